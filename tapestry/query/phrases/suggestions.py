"""How a phrase may go on: walks through the tables of the parser of phrases.

A place is the parser's stack after what is written.  From it a walk follows the words that
the grammar fixes, up to the next value or the end of the phrase: nothing is listed twice.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import lark
from lark.parsers.lalr_analysis import Shift

from tapestry.query.phrases.grammar import KEYWORDS, grammar

_VALUES = ("WORD", "NUMBER")
"""Terminals before which a walk halts: what stands there is for the writer to say."""

_JOINING = ("AND", "OR", "BUT", "NOT")
_FIXED = (*(word.upper() for word in KEYWORDS if word not in ("me", "not")), "AND", "UNIT")
_LONGEST = 12

Stack = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a text: the parser's stack, and the token before it, None at the start."""

    stack: Stack
    before: lark.Token | None = None

    def takes(self, terminal: str) -> bool:
        """Return whether a terminal can stand here."""
        return _step(self.stack, terminal) is not None

    @property
    def ends_phrase(self) -> bool:
        """Return whether what is written is whole."""
        return self.takes("OR")

    @property
    def begins_phrase(self) -> bool:
        """Return whether only a new phrase can stand here."""
        found = _step(self.stack, "FROM")
        return found is not None and not found[1]

    @property
    def kind(self) -> str | None:
        """Return the kind of the phrase that stands here unfinished, going the shortest way."""
        return _outcome(self.stack)


@dataclass(frozen=True, slots=True)
class Continuation:
    """Terminals that can follow, and the kind of phrase that they lead to.

    ``kind`` is that of ``phrase_meaning.MEANINGS``, or the word itself if it joins phrases.
    ``more`` says that something must follow them; ``within``, that no new phrase begins.
    """

    terminals: tuple[str, ...]
    kind: str
    more: bool
    within: bool


def place_after(text: str) -> Place | None:
    """Return the place after a text, None if no phrase begins with it."""
    parser = grammar().parse_interactive(text)
    try:
        tokens = parser.exhaust_lexer()
    except lark.UnexpectedInput:
        return None
    return Place(tuple(parser.parser_state.state_stack), tokens[-1] if tokens else None)


def continuations(place: Place) -> Iterator[Continuation]:
    """Yield what can follow at a place, each up to its next value or its end."""
    for terminal in (*_FIXED, "NUMBER", *_JOINING):
        found = _step(place.stack, terminal)
        if found is None:
            continue
        stack, reduced = found
        if terminal in _JOINING and _step(stack, "FROM"):
            yield Continuation((terminal,), terminal.lower(), more=True, within=False)
        elif terminal not in _JOINING or terminal == "AND":
            new = place.begins_phrase or _leaves(reduced)
            yield from _walk(stack, (terminal,), not new)


def _walk(stack: Stack, terminals: tuple[str, ...], within: bool) -> Iterator[Continuation]:
    """Yield the halts of one phrase, from a stack inside it on."""
    done = _completed(stack)
    halts = not done and any(_step(stack, value) for value in _VALUES)
    kind = done or (_outcome(stack) if halts else None)
    if kind:
        yield Continuation(terminals, kind, more=halts, within=within)
    if len(terminals) < _LONGEST:
        for terminal in _FIXED:
            found = _step(stack, terminal)
            if found and not _leaves(found[1]):
                yield from _walk(found[0], (*terminals, terminal), within)


def _outcome(stack: Stack) -> str | None:
    """Return the kind of the phrase that a short way from here leads to."""
    for _ in range(_LONGEST):
        done = _completed(stack)
        if done:
            return done
        ways = (_step(stack, terminal) for terminal in (*_VALUES, *_FIXED))
        found = next(filter(None, ways), None)
        if found is None:
            return None
        stack = found[0]
    return None


def _completed(stack: Stack) -> str | None:
    """Return the kind of the phrase that is whole here, if one is."""
    found = _step(stack, "OR")
    said = [rule.alias for rule in found[1] if _is_said(rule)] if found else []
    return said[0].removeprefix("said_") if said else None


def _leaves(reduced: tuple[Any, ...]) -> bool:
    """Return whether these rules end a phrase, or a group of them."""
    return any(_is_said(rule) or rule.alias == "group" for rule in reduced)


def _is_said(rule: Any) -> bool:
    return str(rule.alias).startswith("said_")


def _step(stack: Stack, terminal: str) -> tuple[Stack, tuple[Any, ...]] | None:
    """Return the stack after a terminal, and the rules that it ends; None if it cannot stand."""
    table = _table()
    reduced: list[Any] = []
    while True:
        action, found = table[stack[-1]].get(terminal, (None, None))
        if action is None:
            return None
        if action is Shift:
            return (*stack, found), tuple(reduced)
        reduced.append(found)
        stack = stack[: len(stack) - len(found.expansion)]
        stack = (*stack, table[stack[-1]][found.origin.name][1])


@functools.cache
def _table() -> dict[int, dict[str, tuple[Any, Any]]]:
    """Return the parser's actions by state and symbol."""
    state = grammar().parse_interactive("").parser_state
    return state.parse_conf.states
