"""The door of this room: a filter's text, in any notation, to a checked tree."""

from __future__ import annotations

from tapestry.core.errors import TapestryError
from tapestry.query import tql
from tapestry.query.check import check
from tapestry.query.context import Context
from tapestry.query.limits import check_text
from tapestry.query.nodes import CheckedQuery
from tapestry.query.parsed import Parsed


def read(text: str, context: Context) -> CheckedQuery:
    """Read a filter: what parses as TQL or SQL is that, else it is a phrase.

    Raises TapestryError, with the place in ``text``, for everything that is no filter.
    """
    try:
        return check(parse(text, context), text, context, parse)
    except TapestryError as error:
        error.text = text
        raise


def parse(text: str, context: Context, depth: int = 0) -> Parsed:
    """Read a text in the notation it is in; ``depth`` is its nesting already."""
    check_text(text)
    return tql.parse(text, depth)
