"""The text of a search box: a filter, or words that are looked for beside what is one.

A filter is kept, and asked again; a search is asked once, so that it may say “yesterday”.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from tapestry.core.errors import TapestryError
from tapestry.query.context import Context
from tapestry.query.operators import reading as operators
from tapestry.query.phrases.help.bare_words import (
    MOST_BEFORE,
    after_noun,
    in_subject,
    says_words_alone,
    words_with_phrases,
)
from tapestry.query.phrases.help.calendar import dated
from tapestry.query.phrases.parser import parse_phrase
from tapestry.query.phrases.printer import print_phrase
from tapestry.query.phrases.refusals import can_be_said
from tapestry.query.phrases.wordings.haste import in_full
from tapestry.query.phrases.wordings.requests import is_request
from tapestry.query.phrases.wordings.rewording import goes_first
from tapestry.query.phrases.words import parse_words
from tapestry.query.signs import is_condition
from tapestry.query.tree.parsed import MisreadError

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class Search(Generic[Read]):
    """A search as it was read; ``read`` is None if it was not, and ``error`` says why.

    ``text`` is the filter that it was read as, ``subject`` one that finds its words in subjects as
    they stand, where these may have been meant: each subject finds its own message.  ``error`` is
    also that of a text which is no filter, but words.
    """

    text: str
    read: Read | None
    subject: str | None = None
    error: TapestryError | None = None


def read_search(
    text: str, context: Context, reader: Callable[[str, Context], Read]
) -> Search[Read]:
    """Read the text of a search box with a reader of filters, which raises TapestryError.

    Tried are words before a phrase (“lunch from mary”), the text, and its words, and first what is
    written in haste (“pics frm bob”) in full.
    """
    has_operators = operators.are_named_in(text)
    subject = None if has_operators else in_subject(text)
    full = text if has_operators or is_condition(text) else in_full(text, context.is_person)
    if full != text:
        found = _read(full, context, reader, None)
        if found.read is not None and found.error is None and not _is_of_words_alone(found.text):
            return replace(found, subject=subject)
    return _read(text, context, reader, subject)


def _read(
    text: str, context: Context, reader: Callable[[str, Context], Read], subject: str | None
) -> Search[Read]:
    has_operators = operators.are_named_in(text)
    spans = dated(text, context, has_operators=has_operators)
    misread: TapestryError | None = None
    for phrases in _readings(text, spans):
        try:
            read = reader(phrases, context)
        except TapestryError as error:
            misread = misread or error
            if has_operators and not isinstance(error, MisreadError):
                break
        else:
            return Search(phrases, read, subject, None if phrases in (text, spans) else misread)
    return Search(text, None, None, misread)


def _readings(text: str, spans: str | None) -> Iterator[str]:
    """Yield what a text may be read as, the likeliest first; ``spans`` has its spans as days."""
    if spans is not None and goes_first(text):
        yield text
    may_be_mixed = not operators.are_named_in(text) and can_be_said(text)
    for asked in filter(None, (spans, text)):
        longer = len(asked.split()) - len(text.split())
        mixed = words_with_phrases(asked, MOST_BEFORE + longer) if may_be_mixed else None
        if mixed is not None:
            yield mixed
        if asked == spans and (_asks(spans) or not _is_of_words(spans)):
            yield spans
    yield text
    yield from filter(None, (as_words(text), in_subject(text)))


def _asks(text: str) -> bool:
    """Tell whether a text asks for mail; “filter coffee” does not."""
    rest = after_noun(text)
    return is_request(text if rest is None else rest)


def _is_of_words(text: str) -> bool:
    """Tell whether a text is no phrase."""
    try:
        parse_phrase(text)
    except MisreadError:
        return not operators.are_in(text)
    return False


def _is_of_words_alone(text: str) -> bool:
    """Tell whether a text is no phrase, or one that mentions words and no more."""
    return _is_of_words(text) or says_words_alone(text)


def as_words(text: str) -> str | None:
    """Return the filter that finds the words of a text, whatever it asks for; None of code.

    >>> as_words("my new dog"), as_words("m.size > 5")
    ('mentioning my and mentioning "new" and mentioning dog', None)
    """
    if not operators.are_words(text):
        return None
    try:
        return print_phrase(parse_words(text))
    except MisreadError:
        return None
