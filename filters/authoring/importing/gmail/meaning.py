"""A search of Gmail to what it says of a message: as a whole, or not at all."""

from __future__ import annotations

from collections.abc import Sequence

from filters.authoring.importing.gmail.terms import NoEquivalentError, statement_of
from filters.authoring.importing.statements import Statement, all_of, any_of, opposite
from tapestry.query.context import Context
from tapestry.query.operators.syntax import Group, Negation, Search, Term, Unknown


def statement_of_all(parts: Sequence[Search], context: Context) -> Statement | None:
    """Return what says that all parts hold, None if they say nothing.

    Raises NoEquivalentError, or TapestryError, if a filter cannot say it.
    """
    statements = _statements(parts, context)
    return all_of(statements) if statements else None


def _statement(search: Search, context: Context) -> Statement | None:
    match search:
        case Term():
            return statement_of(search, context)
        case Negation():
            negated = _statement(search.part, context)
            return None if negated is None else opposite(negated)
        case Group():
            statements = _statements(search.parts, context)
            join = all_of if search.word == "and" else any_of
            return join(statements) if statements else None
        case Unknown():
            raise NoEquivalentError(search.reason)


def _statements(parts: Sequence[Search], context: Context) -> list[Statement]:
    found = [_statement(part, context) for part in parts]
    return [statement for statement in found if statement is not None]
