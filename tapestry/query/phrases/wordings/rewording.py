"""Put a request into the words of phrases, rule by rule.

A rule is a pattern (``patterns.py``) and what stands in its place::

    WHICH? I NOT ANSWER             ->  with no reply by me
    WHICH? {person:WORD} voted for  ->  voted for by {person}
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache

from tapestry.core.errors import Span
from tapestry.query.phrases.nodes import Joined, Negated, Person, Phrase, PhraseNode, Words
from tapestry.query.phrases.slips import NO_SLIPS, has_changed, is_slip
from tapestry.query.phrases.wordings.lexicon import QUOTE, VOCABULARY
from tapestry.query.phrases.wordings.patterns import compiled, present_in, words_needed, words_of
from tapestry.query.phrases.wordings.rules import FIRST, RULES

_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|(?<!\w)\'[^\']*\'(?!\w)')
_SHORTEST = 4
"""Letters that a misspelt word has at least."""

_LONG = 5
"""Letters of a longer one, which may lack one or have one too many."""

_VOWELS = frozenset("aeiou")
_UNMARKED = {
    f"{verb}nt": f"{verb}n't"
    for verb in ("do", "does", "did", "is", "are", "was", "were", "has", "have", "had")
}
"""Negations in haste: “dont”."""

_DONE = (
    "^ NAME (sent | posted | mailed | forwarded | written | reviewed | noted | tagged | labelled "
    "| labeled | annotated | liked) $"
)
"""What is as likely done to it as by it: a “payment sent” is from nobody."""

_LONGEST = 300
"""A request is a sentence: a text of more characters than this is none."""


def reworded(text: str) -> str | None:
    """Return a request in the words of phrases, None if no rule says anything about it.

    >>> reworded("Which emails that I sent has nobody answered?"), reworded("lunch on friday")
    ('from me with no reply', None)
    """
    if len(text) > _LONGEST or QUOTE in text:
        return None
    quotes: list[str] = []

    def kept(found: re.Match[str]) -> str:
        quotes.append(found[0])
        return f" {QUOTE}{len(quotes) - 1} "

    def quote(found: re.Match[str]) -> str:
        return quotes[int(found[1])]

    words = words_of(_QUOTED.sub(kept, text))
    if compiled(_DONE).search(words):
        return None
    result = _spelled(words)
    present = present_in(result)
    for pattern, needed, phrase in _rules():
        if any(map(present.isdisjoint, needed)):
            continue
        result, count = compiled(pattern).subn(phrase, result)
        if count:
            result = _spaced(result)
            present = present_in(result)
    if result == words:
        return None
    return re.sub(rf"{QUOTE}([0-9]+)", quote, result).replace(" :", ":").strip()


def goes_first(text: str) -> bool:
    """Tell whether a text is a request, though it may be a phrase.

    >>> goes_first("threads with more than 10 replies"), goes_first("from mary")
    (True, False)
    """
    words = words_of(_QUOTED.sub(f" {QUOTE}0 ", text))
    return len(text) <= _LONGEST and _first().search(words) is not None


_TOPIC = re.compile(r"\A((?:.*\s)?about)\s+(?:(?:the|an?)\s+)?([^\"“”,()]+)\Z", re.IGNORECASE)
_WITHIN_TOPIC = re.compile(
    r"\s(?:to|with|in|on|at|for|of|by|from)\s+(?:the|an?|my|our|your)\s", re.I
)


def with_topic(request: str) -> str | None:
    """Return a request whose end is what it is about, put in quotes; None if it has no such end.

    >>> with_topic("from ann about the move to the new office")
    'from ann about "move to the new office"'
    """
    found = _TOPIC.match(request)
    return f'{found[1]} "{found[2]}"' if found and _WITHIN_TOPIC.search(found[2]) else None


@cache
def _first() -> re.Pattern[str]:
    return compiled(f"({' | '.join(FIRST)})")


def _spelled(words: str) -> str:
    """Return words, those of requests spelt right."""
    return " ".join([spelled(word) for word in words.split()]) + " "


@lru_cache(4096)
def spelled(word: str) -> str:
    """Return the word of requests that a word is but for one slip, else the word."""
    lower = word.lower()
    if len(word) < _SHORTEST or lower in VOCABULARY:
        return word
    if lower in _UNMARKED:
        return _UNMARKED[lower]
    return next((other for other in sorted(VOCABULARY) if is_meant(other, lower)), word)


def is_meant(other: str, word: str) -> bool:
    """Tell whether a word was meant to be another: a short one if letters are changed about."""
    if word == f"{other}s" or word in NO_SLIPS:
        return False
    if len(word) > _LONG and len(word) == len(other):
        changed = [pair for pair in zip(word, other, strict=True) if pair[0] != pair[1]]
        if len(changed) == 1 and _VOWELS.issuperset(changed[0]):
            return True
    return is_slip(word, other) if len(word) > _LONG else has_changed(word, other)


def _spaced(text: str) -> str:
    return " ".join(text.split()) + " "


@cache
def _rules() -> list[tuple[str, list[frozenset[str]], Callable[[re.Match[str]], str]]]:
    return [(pattern, words_needed(pattern), _filled(phrase)) for pattern, phrase in RULES]


def _filled(phrase: str | Callable[[re.Match[str]], str]) -> Callable[[re.Match[str]], str]:
    if callable(phrase):
        return phrase
    return lambda found: phrase.format(**found.groupdict()) + " "


def placed_in(node: PhraseNode, text: str) -> PhraseNode:
    """Return what a request was understood as, each of its values where it stands in the request.

    All else stands for the whole request.
    """
    match node:
        case Joined():
            return replace(node, parts=tuple([placed_in(part, text) for part in node.parts]))
        case Negated():
            return replace(node, part=placed_in(node.part, text))
        case Phrase():
            values = {
                name: replace(value, span=_place(value, text))
                for name in ("person", "words", "owner", "amount", "upper", "date")
                if (value := getattr(node, name)).span.end
            }
            return replace(node, span=Span(0, len(text)), **values)
        case _:
            return replace(node, span=Span(0, len(text)))


def _place(value: object, text: str) -> Span:
    written = value.text if isinstance(value, Person | Words) else ""
    start = text.casefold().find(written.casefold()) if written else -1
    return Span(start, start + len(written)) if start >= 0 else Span(0, len(text))
