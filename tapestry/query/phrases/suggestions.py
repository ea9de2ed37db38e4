"""How a phrase may go on: steps of lark's interactive parser, tried on copies of it.

Two parsers read a text: one all of it, and one the phrase that it ends in.  From there a walk
follows the words that the grammar fixes, up to the next value or the end of the phrase.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import lark
from lark.parsers.lalr_interactive_parser import InteractiveParser

from tapestry.query.phrases.grammar import KEYWORDS, grammar

_VALUES = {"WORD": "x", "NUMBER": "two"}
"""Terminals before which a walk halts: what stands there is for the writer to say."""

_SAMPLES = _VALUES | {"UNIT": "weeks"}
_JOINING = ("AND", "OR", "BUT", "NOT")
_FIXED = (*(word.upper() for word in KEYWORDS if word not in ("me", "not")), "AND", "UNIT")
_LONGEST = 12
_END = "$END"


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a text.

    ``accepts``: the terminals that can stand here.  ``phrase``: the parser of the phrase that
    the text ends in, None where no phrase is begun.  ``before``: the last token, None at the
    start.
    """

    accepts: frozenset[str]
    phrase: InteractiveParser | None = None
    before: lark.Token | None = None

    def takes(self, terminal: str) -> bool:
        """Return whether a terminal can stand here."""
        return terminal in self.accepts

    @property
    def ends_phrase(self) -> bool:
        """Return whether what is written is whole."""
        return self.takes("OR")

    @property
    def kind(self) -> str | None:
        """Return the kind of the phrase that stands here unfinished, going the shortest way."""
        return _shortest(self.phrase) if self.phrase else None


@dataclass(frozen=True, slots=True)
class Continuation:
    """Terminals that can follow, and the kind of phrase that they lead to.

    ``kind`` is a name of the catalogue, or the word itself if it joins phrases.  ``more`` says
    that something must follow them; ``within``, that no new phrase begins.
    """

    terminals: tuple[str, ...]
    kind: str
    more: bool
    within: bool


def place_after(text: str) -> Place | None:
    """Return the place after a text, None if no phrase begins with it."""
    parser = grammar().parse_interactive(text)
    phrase: InteractiveParser | None = None
    token = None
    try:
        for token in parser.iter_parse():
            phrase = _after(phrase, token) or _after(_begin(), token)
    except lark.UnexpectedInput:
        return None
    return Place(frozenset(parser.accepts()), phrase, token)


def continuations(place: Place) -> Iterator[Continuation]:
    """Yield what can follow at a place, each up to its next value or its end."""
    within = _walk(place.phrase, ()) if place.phrase else ()
    first = set()
    for terminals, kind, more in within:
        first.add(terminals[0])
        yield Continuation(terminals, kind, more, within=True)
    for terminal in _JOINING:
        if place.takes(terminal) and (terminal != "AND" or place.ends_phrase):
            yield Continuation((terminal,), terminal.lower(), more=True, within=False)
    if place.takes("FROM") and (place.phrase is None or place.ends_phrase):
        for terminals, kind, more in _openings():
            if terminals[0] not in first:
                yield Continuation(terminals, kind, more, within=False)


Way = tuple[tuple[str, ...], str, bool]
"""Terminals, the kind of phrase that they lead to, and whether something must follow."""


@functools.cache
def _openings() -> tuple[Way, ...]:
    """Return the ways into a new phrase."""
    return tuple(_walk(_begin(), ()))


def _walk(phrase: InteractiveParser, terminals: tuple[str, ...]) -> Iterator[Way]:
    """Yield the halts of one phrase, from a place inside it on."""
    accepts = phrase.accepts()
    if terminals:
        halts = _END not in accepts and not accepts.isdisjoint(_VALUES)
        kind = _shortest(phrase) if halts or _END in accepts else None
        if kind:
            yield terminals, kind, halts
    if len(terminals) < _LONGEST:
        for terminal in (*_FIXED, *(() if terminals else ("NUMBER",))):
            if terminal in accepts:
                yield from _walk(_fed(phrase, terminal), (*terminals, terminal))


def _shortest(phrase: InteractiveParser) -> str | None:
    """Return the kind of the phrase that a short way from here leads to."""
    for _ in range(_LONGEST):
        accepts = phrase.accepts()
        if _END in accepts:
            kind: str = _copy(phrase).feed_eof().kind
            return kind
        terminal = next((name for name in (*_VALUES, *_FIXED) if name in accepts), None)
        if terminal is None:
            return None
        phrase = _fed(phrase, terminal)
    return None


def _begin() -> InteractiveParser:
    return grammar("phrase").parse_interactive()


def _copy(phrase: InteractiveParser) -> InteractiveParser:
    copied: InteractiveParser = phrase.copy(deepcopy_values=False)
    return copied


def _fed(phrase: InteractiveParser, terminal: str) -> InteractiveParser:
    """Return the parser after a terminal that it accepts."""
    fed = _copy(phrase)
    fed.feed_token(lark.Token(terminal, _SAMPLES.get(terminal, terminal)))
    return fed


def _after(phrase: InteractiveParser | None, token: lark.Token) -> InteractiveParser | None:
    """Return the parser of a phrase after one more token, None if the token is not part of it."""
    if phrase is None:
        return None
    fed = _copy(phrase)
    try:
        fed.feed_token(token)
    except lark.UnexpectedToken:
        return None
    return fed
