"""Remedies for what other programs and the calendar put into a text: what to write instead."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tapestry.core.errors import Span
from tapestry.query.operators.reading import operator_near
from tapestry.query.phrases.dates import MONTHS
from tapestry.query.phrases.help.bare_words import MOST_WORDS, words_with_phrases
from tapestry.query.phrases.help.calendar import lasting
from tapestry.query.phrases.help.vocabulary import Vocabulary
from tapestry.query.phrases.printer import quoted
from tapestry.query.search import as_words

MOST = 3
NEAR, SURE, VERY_NEAR = 0.6, 0.75, 0.85
"""Likeness of a word to the one that was meant."""

VERBS = ("contains", "equals", "has", "includes", "is", "like", "matches")
"""Signs that other programs want between a field and its value."""

_PAIR = re.compile(
    rf"([^\W\d]\w*)(?:\s*[:=]\s*|\s+(?:{'|'.join(VERBS)})\s+)([^\s(),:=\"“”]+)", re.IGNORECASE
)

_IN = re.compile(r"in\s+([^\s()\"]{1,60})\s*", re.IGNORECASE)
_DAY = re.compile(r"[0-9]{1,2}\s+([^\W\d]{3,12})")

SYNONYMS = {
    "answer": ("reply",),
    "answered": ("replied to",),
    "answers": ("replies",),
    "author": ("from",),
    "bigger": ("larger",),
    "body": ("mentioning",),
    "contains": ("mentioning", "containing"),
    "group": ("in",),
    "kilo": ("KB",),
    "label": ("tagged",),
    "mega": ("MB",),
    "newsgroup": ("in",),
    "recipient": ("to",),
    "regarding": ("about",),
    "response": ("reply",),
    "responses": ("replies",),
    "sender": ("from",),
    "since": ("newer than",),
    "subject": ("about",),
    "tag": ("tagged",),
    "text": ("mentioning",),
    "title": ("about",),
}
"""Words that people bring with them from elsewhere, and those of phrases."""


@dataclass(frozen=True, slots=True)
class Correction:
    """``text`` in place of the characters ``[start, end)``: a filter, or an error further on."""

    start: int
    end: int
    text: str

    def applied_to(self, text: str) -> str:
        return text[: self.start] + self.text + text[self.end :]


def pairs_split(text: str, start: int) -> Iterator[Correction]:
    """Yield ``from:jones`` and ``from is jones``, as other programs write it, as two words."""
    for pair in _PAIR.finditer(text):
        if pair.start() <= start < pair.end():
            if ":" in pair[0] and (meant := operator_near(f"{pair[1]}:{pair[2]}")):
                yield Correction(*pair.span(1), meant.partition(":")[0])
            field, value = pair[1].lower(), quoted(pair[2])
            if field == "in" and "." not in value:
                continue
            for name in (*SYNONYMS.get(field, ()), field):
                yield Correction(*pair.span(), f"{name} {value}")


def months_at(text: str, start: int) -> Iterator[Correction]:
    """Yield a day with its month spelt right: “since 3 Marh 2025”."""
    day = _DAY.match(text, start)
    if day:
        by_letters = {month.lower(): month for month in MONTHS}
        for month in difflib.get_close_matches(day[1].lower(), by_letters, 1, NEAR):
            yield Correction(*day.span(1), by_letters[month])


def newsgroups_at(text: str, span: Span, vocabulary: Vocabulary) -> Iterator[Correction]:
    """Yield the newsgroups of which a part is nearly a name: “in baseball”."""
    written = _IN.fullmatch(text, span.start, span.end)
    if written:
        names = {name for name in vocabulary.newsgroups if "." in name}
        parts = {part: name for name in sorted(names, reverse=True) for part in name.split(".")}
        for part in difflib.get_close_matches(written[1].lower(), parts, MOST, SURE):
            yield Correction(*written.span(), f"in {parts[part]}")


def lasting_at(text: str, span: Span) -> Iterator[Correction]:
    """Yield a text with ages in place of a span such as “last month”, and its words."""
    others = lasting(text, span)
    for other in others:
        yield Correction(0, len(text), words_with_phrases(other, MOST_WORDS) or other)
    if others and (len(text) == span.end - span.start or words_with_phrases(others[0], MOST_WORDS)):
        yield Correction(0, len(text), as_words(text) or text)
