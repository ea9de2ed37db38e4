"""A search to what it says of a message: as a whole, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from filters.authoring.importing.gmail.terms import statement_of
from filters.authoring.importing.statements import (
    NoEquivalentError,
    Statement,
    all_of,
    any_of,
    opposite,
)
from tapestry.query.context import Context
from tapestry.query.operators.syntax import Group, Negation, Search, Term, Unknown

Reader = Callable[[Term, Context], Statement | None]


def statement_of_all(
    parts: Sequence[Search], context: Context, say: Reader = statement_of
) -> Statement | None:
    """Return what says that all parts hold, None if they say nothing.

    ``say`` reads a term, as Gmail by default.  Raises NoEquivalentError, or TapestryError, if a
    filter cannot say it.
    """
    statements = _statements(parts, context, say)
    return all_of(statements) if statements else None


def _statement(search: Search, context: Context, say: Reader) -> Statement | None:
    match search:
        case Term():
            return say(search, context)
        case Negation():
            negated = _statement(search.part, context, say)
            return None if negated is None else opposite(negated)
        case Group():
            statements = _statements(search.parts, context, say)
            join = all_of if search.word == "and" else any_of
            return join(statements) if statements else None
        case Unknown():
            raise NoEquivalentError(search.reason)


def _statements(parts: Sequence[Search], context: Context, say: Reader) -> list[Statement]:
    found = [_statement(part, context, say) for part in parts]
    return [statement for statement in found if statement is not None]
