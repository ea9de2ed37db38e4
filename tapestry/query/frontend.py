"""The front end of the compiler: a filter's text, in any notation, to a checked tree."""

from __future__ import annotations

from contextlib import suppress

from tapestry.core.errors import Span, TapestryError
from tapestry.query.check.checker import check
from tapestry.query.context import Context
from tapestry.query.limits import MAX_NESTING, check_text, too_deep
from tapestry.query.phrases import parser as phrases
from tapestry.query.tql import parser as tql
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import MisreadError, Parsed, placed
from tapestry.query.tree.printer import print_tql
from tapestry.query.tree.walk import depth

_NESTING = ("(", "NOT", "+", "-", "*")
"""Signs of nesting: a text with no more of these than levels is not too deep."""


def read(text: str, context: Context) -> n.CheckedQuery:
    """Read a filter: what parses as TQL or SQL is that, else it is a phrase.

    Raises TapestryError, with the place in ``text``, for everything that is no filter.
    """
    with placed(text):
        try:
            return check(parse(text, context), text, context, parse)
        except RecursionError:
            # The limit on nesting prevents it, unless the caller is very deep already.
            raise too_deep(Span(0, len(text))) from None


def parse(text: str, context: Context, depth: int = 0) -> Parsed:
    """Read a text in the notation it is in; ``depth`` is its nesting already.

    If it is in neither, the error is that of the notation that got further.
    """
    check_text(text)
    if tql.cannot_be(text):
        with suppress(MisreadError):
            return phrases.parse(text, context, depth)
    try:
        return tql.parse(text, depth)
    except MisreadError as error:
        misread = error
    try:
        return phrases.parse(text, context, depth)
    except MisreadError as error:
        raise (misread if (misread.offset or 0) > (error.offset or 0) else error) from None


def write_out(query: n.CheckedQuery) -> str:
    """Return the TQL of a filter, without references, to be stored and read again.

    Raises TapestryError if it is too long or too deep to be read.
    """
    printed = print_tql(query)
    try:
        check_text(printed)
        if sum(map(printed.count, _NESTING)) > MAX_NESTING < depth(query.condition):
            tql.parse(printed)
    except TapestryError as error:
        hint = "Split it into several filters."
        message = f"Written out in full: {error.message}"
        raise TapestryError(message, Span(0, len(query.text)), hint, query.text) from error
    return printed
