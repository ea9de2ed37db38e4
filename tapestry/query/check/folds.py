"""Check what an aggregate that is defined in SQL is of."""

from __future__ import annotations

from tapestry.core.errors import TapestryError
from tapestry.core.schema import Type
from tapestry.query.check.comparisons import refuse_now
from tapestry.query.check.scope import Scope
from tapestry.query.check.terms import a, scalar
from tapestry.query.context import Context
from tapestry.query.tree import nodes as n
from tapestry.query.tree.definitions import header
from tapestry.query.tree.identifiers import is_definition
from tapestry.query.tree.walk import columns_of, type_of


def definition_of(fold: n.Fold, context: Context, asker: str | None) -> str:
    """Return the definition of an aggregate, as it now stands where it is named.

    Raises TapestryError with the place of a name that nobody may use.
    """
    if is_definition(fold.definition):
        return fold.definition
    if context.resolve is None:
        hint = "Write out what it does: AGGREGATE (x NUMBER) … OF (…)."
        raise TapestryError("There are no aggregates of one’s own here.", fold.span, hint)
    written, _, name = fold.definition.rpartition(".")
    owner = written or (None if context.owner == asker else context.owner)
    try:
        return context.resolve(owner, f"{name}()")
    except TapestryError as error:
        raise TapestryError(error.message, fold.span, error.hint) from error


def folded(fold: n.Fold, definition: str, scope: Scope, own: set[str]) -> n.Fold:
    """Return the checked values of a definition's parameters, for rows whose variables are ``own``.

    Raises TapestryError with the place of what does not fit.
    """
    parameters, returns = header(definition)
    args = tuple(scalar(arg, scope) for arg in fold.args)
    shown = ", ".join(f"{name} {kind.name}" for name, kind in parameters)
    if len(args) != len(parameters):
        message = f"The aggregate is of {len(parameters)} values, and here are {len(args)}."
        raise TapestryError(message, fold.span, f"Its parameters are {shown}.")
    for arg, (name, kind) in zip(args, parameters, strict=True):
        refuse_now(arg, "in what an aggregate is of")
        given = type_of(arg)
        if given is not kind and (given, kind) != (Type.INTEGER, Type.NUMBER):
            message = f"{name} is {a(kind)}, and this is {a(given)}."
            raise TapestryError(message, arg.span, f"Its parameters are {shown}.")
    if not own & {column.var for arg in args for column in columns_of(arg)}:
        hint = "Name a column of one of them: decayed(a.number IN annotations: …)."
        raise TapestryError("It is not of the rows that it ranges over.", fold.span, hint)
    return n.Fold(definition, args, returns, span=fold.span)
