"""The front end of the compiler: a filter's text, in any notation, to a checked tree."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from tapestry.core.errors import Span, TapestryError
from tapestry.query.check.checker import check
from tapestry.query.context import Context
from tapestry.query.limits import MAX_NESTING, check_text, too_deep
from tapestry.query.operators import reading as operators
from tapestry.query.phrases import parser as phrases
from tapestry.query.phrases.help.bare_words import (
    MOST_WORDS,
    after_noun,
    begins_sentence,
    keeps_to_me,
    opens_with_words,
    says_words_alone,
    words_with_phrases,
)
from tapestry.query.phrases.help.calendar import check_no_span, lasting, with_span_last
from tapestry.query.phrases.help.nearest import hint_for
from tapestry.query.phrases.help.sentences import phrases_of_all
from tapestry.query.phrases.nodes import PhraseNode
from tapestry.query.phrases.refusals import check_can_be_said
from tapestry.query.phrases.slips import NO_SLIPS, slip
from tapestry.query.phrases.states import StateError, check_no_states
from tapestry.query.phrases.wordings.haste import in_full
from tapestry.query.phrases.wordings.requests import is_request
from tapestry.query.phrases.wordings.rewording import placed_in, reworded
from tapestry.query.phrases.wordings.senses import NAMED_MAIL, misread_word
from tapestry.query.phrases.words import parse_words
from tapestry.query.signs import is_condition, may_be_code
from tapestry.query.tql import parser as tql
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import MisreadError, Parsed, UnsaidError, placed
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
            return _read_in_full(text, context) or _checked(text, context)
        except MisreadError as error:
            error.hint = hint_for(text, error)
            raise
        except RecursionError:
            # The limit on nesting prevents it, unless the caller is very deep already.
            raise too_deep(Span(0, len(text))) from None


def _read_in_full(text: str, context: Context) -> n.CheckedQuery | None:
    """Read a text that is written in haste; None if it is not, or is no phrase in full, either."""
    full = in_full(text, context.is_person)
    if full == text or is_condition(text) or operators.are_named_in(text):
        return None
    try:
        query = _checked(full, context)
    except MisreadError:
        return None
    except TapestryError as error:
        others = error.others if isinstance(error, StateError) else ()
        others = others or tuple(lasting(full, error.span) if error.span else ())
        if not others:
            return None
        refused = StateError(error.message, Span(0, len(text)), error.hint)
        refused.others = others
        raise refused from None
    is_phrase = query.notation == "phrase" and query.phrase
    if is_phrase and not says_words_alone(query.phrase or ""):
        return replace(query, text=text, restated=True)
    return None


def _checked(text: str, context: Context) -> n.CheckedQuery:
    parsed = parse(text, context)
    try:
        return check(parsed, text, context, parse)
    except TapestryError:
        if parsed.notation != "tql" or may_be_code(text):
            raise
        try:  # such as “mails between me and Hannah”
            return check(phrases.parse(text, context), text, context, parse)
        except MisreadError:
            if text.islower() and "'" not in text:  # nobody writes a condition so
                raise
        raise


def parse(text: str, context: Context, depth: int = 0) -> Parsed:
    """Read a text in the notation it is in; ``depth`` is its nesting already.

    What parses as TQL or SQL is that; a text with operators of mail programs is a search as they
    write it; another one is a phrase.  A text in none of them is looked for word by word, unless
    it asks for mail in words that are not known: then the error is that of the notation that got
    further.
    """
    check_text(text)
    check_no_states(text)
    misread: dict[_Reader, MisreadError] = {}
    for reader in _readers(text):
        try:
            parsed = reader(text, context, depth)
        except MisreadError as error:
            misread[reader] = error
        except TapestryError as error:
            if reader is not _as_tql or not operators.are_words(text):
                raise
            misread[reader] = MisreadError(error.message, error.span, error.hint)
        else:
            if reader not in (_as_tql, _with_operators):
                _check_all_said(text, parsed.phrase or "")
            return parsed
    likely = [error for reader, error in misread.items() if reader is not _as_tql]
    others = [] if is_request(text) and not may_be_code(text) else misread.values()
    raise max([*likely, *others], key=lambda error: error.offset or 0)


def _check_all_said(text: str, phrase: str) -> None:
    """Refuse a reading that leaves out a word of the text, or takes it for what it is not."""
    if word := misread_word(text, phrase, phrases.parse_phrase):
        start = text.casefold().find(word.casefold())
        message = f"“{word}” would mean nothing if this were read as “{phrase}”."
        span = Span(start, start + len(word)) if start >= 0 else Span(0, len(text))
        named = NAMED_MAIL.search(text)
        if named and named[3].casefold() == word.casefold():
            phrase = NAMED_MAIL.sub(r'\1 "\2"', text)
        raise UnsaidError(message, span, reading=phrase)


_JOINED = re.compile(r"\s(?:and|or|but)\s", re.IGNORECASE)

_Reader = Callable[[str, Context, int], Parsed]


def _readers(text: str) -> list[_Reader]:
    """Return the readers of the notations that a text may be in, the likeliest first."""
    may_be_words = False
    readers: list[_Reader] = [_with_operators]
    if operators.are_of_words(text):
        readers = [phrases.parse, *readers]
    elif not operators.are_in(text):
        may_be_words = operators.may_be_in(text)
        readers = [phrases.parse, *readers] if may_be_words else [phrases.parse]
    is_no_tql = tql.cannot_be(text) or operators.compares_days(text)
    is_quoted = text.lstrip().startswith('"') and operators.are_in(text)
    is_likelier = is_no_tql or is_quoted or (may_be_words and '"' in text)
    readers = [*readers, _as_tql] if is_likelier else [_as_tql, *readers]
    return [*readers, _as_words] if operators.are_words(text) else readers


def _as_tql(text: str, _: Context, depth: int) -> Parsed:
    return tql.parse(text, depth)


def _with_operators(text: str, context: Context, depth: int) -> Parsed:
    return phrases.parse(text, context, depth, operators.parse_operators)


def _as_words(text: str, context: Context, depth: int) -> Parsed:
    check_can_be_said(text)
    is_misspelt = phrases.is_misspelt(text) or any(
        slip(word) for word in text.split() if word.lower() not in NO_SLIPS
    )
    if (last := with_span_last(text)) != text:
        check_no_span(last)
    mixed = None if is_misspelt else words_with_phrases(text)
    if is_request(text):
        try:
            return phrases.parse(text, context, depth, _asked_words)
        except MisreadError:
            if phrases_alone := phrases_of_all(text):
                return phrases.parse(text, context, depth, lambda _: _placed(phrases_alone, text))
            if mixed is None:
                raise
    if mixed:
        return phrases.parse(text, context, depth, lambda _: _placed(mixed, text))
    if is_misspelt or _is_cut_short(text):
        raise MisreadError("This is no phrase.", Span(0, 0))
    check_no_span(text)
    return phrases.parse(text, context, depth, parse_words)


def _placed(phrase: str, text: str) -> PhraseNode:
    return placed_in(phrases.parse_phrase(phrase), text)


def _is_cut_short(text: str) -> bool:
    """Tell whether a text is phrases of which the last wants its end.

    >>> _is_cut_short("identified by a@x and with at least 1"), _is_cut_short("lunch and tea")
    (True, False)
    """
    if not _JOINED.search(text):
        return False
    try:
        phrases.parse_phrase(text)
    except MisreadError as error:
        return error.offset == len(text.rstrip())
    return False


def _asked_words(text: str) -> PhraseNode:
    """Return what a request for words asks, ``find the invoices from mary``."""
    request, rest = reworded(text), after_noun(text)
    if request and phrases.is_misspelt(request):
        raise MisreadError("This is no phrase.", Span(0, 0))
    if request and not begins_sentence(request) and keeps_to_me(text, request):
        if found := words_with_phrases(request, MOST_WORDS):
            return _placed(found, text)
        if opens_with_words(text, request) and not is_request(request):
            return placed_in(parse_words(request if rest is None else text), text)
    if rest is not None and not is_request(rest):
        return parse_words(text)
    raise MisreadError("This is no phrase.", Span(0, 0))


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
