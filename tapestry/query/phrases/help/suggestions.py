"""Continuations of a phrase: steps of lark's interactive parser, tried on copies of it.

Two parsers read a text: one all of it, and one the phrase that it ends in.  From there a walk
follows the words that the grammar fixes, up to the next value or the end of the phrase.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import lark
from lark.parsers.lalr_interactive_parser import InteractiveParser

from tapestry.query.phrases.grammar import PLAIN, grammar
from tapestry.query.phrases.joining import BY
from tapestry.query.phrases.nodes import kind_of

_VALUES = {"WORD": "x", "NUMBER": "two", "SHARE": "half", "DAY": "3 March 2025"}
"""Terminals before which a walk halts: what stands there is for the writer to say."""

_SAMPLES = _VALUES | {"UNIT": "weeks", "FILE_TYPE": "pictures"}
_JOINING = ("AND", "OR", "BUT", "NOT")
_FIXED = (
    *(word.upper() for word in PLAIN if word not in ("me", "not")),
    "AND",
    "UNIT",
    "FILE_TYPE",
)
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

    @property
    def ends_phrase(self) -> bool:
        """Return whether what is written is whole."""
        return "OR" in self.accepts

    @property
    def within_words(self) -> bool:
        """Return whether words are begun that the next one may go on with."""
        return self.before is not None and self.before.type in ("WORD", "DIGITS", "NOUN")

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
            phrase = _continued(phrase, token) if phrase else None
            phrase = phrase or _continued(_begin(), token)
    except lark.UnexpectedInput:
        return None
    return Place(frozenset(parser.accepts()), phrase, token)


def _continued(phrase: InteractiveParser, token: lark.Token) -> InteractiveParser | None:
    """Return the parser of a phrase after one more token, None if the token is not part of it."""
    try:
        return _fed(phrase, token)
    except lark.UnexpectedToken:
        return None


def continuations(place: Place) -> Iterator[Continuation]:
    """Yield what can follow at a place, each up to its next value or its end."""
    continuing = list(_walk(place.phrase, within=True)) if place.phrase else []
    yield from continuing
    for terminal in _JOINING:
        if terminal in place.accepts and (terminal != "AND" or place.ends_phrase):
            yield Continuation((terminal,), terminal.lower(), more=True, within=False)
    if "FROM" in place.accepts and (place.phrase is None or place.ends_phrase):
        first = {way.terminals[0] for way in continuing}
        yield from (way for way in _openings() if way.terminals[0] not in first)


@functools.cache
def _openings() -> tuple[Continuation, ...]:
    """Return the ways into a new phrase."""
    return tuple(_walk(_begin(), within=False))


def _walk(
    phrase: InteractiveParser, *, within: bool, terminals: tuple[str, ...] = ()
) -> Iterator[Continuation]:
    """Yield the halts of one phrase, from a place inside it on."""
    accepts = phrase.accepts()
    if terminals:
        halts = _END not in accepts and not accepts.isdisjoint(_VALUES)
        kind = _shortest(phrase) if halts or _END in accepts else None
        if kind:
            yield Continuation(terminals, kind, halts, within)
    if len(terminals) < _LONGEST:
        for terminal in (*_fixed(accepts), *(() if terminals else ("NUMBER", "SHARE"))):
            if terminal in accepts:
                fed = _fed(phrase, _sample(terminal))
                yield from _walk(fed, within=within, terminals=(*terminals, terminal))


def _fixed(accepts: Collection[str]) -> tuple[str, ...]:
    """Return the words that the grammar fixes; “me” is one where nobody else can stand."""
    return (*_FIXED, "ME") if set(accepts) == {"ME"} else _FIXED


def _shortest(phrase: InteractiveParser) -> str | None:
    """Return the kind of the phrase that a short way from here leads to."""
    for _ in range(_LONGEST):
        accepts = phrase.accepts()
        if _END in accepts:
            kind = kind_of(phrase.copy(deepcopy_values=False).feed_eof())
            return "from" if kind == BY else kind
        terminal = next((name for name in (*_VALUES, *_fixed(accepts)) if name in accepts), None)
        if terminal is None:
            return None
        phrase = _fed(phrase, _sample(terminal))
    return None


def _begin() -> InteractiveParser:
    return grammar("phrase").parse_interactive()


def _sample(terminal: str) -> lark.Token:
    return lark.Token(terminal, _SAMPLES.get(terminal, terminal))


def _fed(phrase: InteractiveParser, token: lark.Token) -> InteractiveParser:
    """Return the parser after one more token; raises lark.UnexpectedToken."""
    fed: InteractiveParser = phrase.copy(deepcopy_values=False)
    fed.feed_token(token)
    return fed
