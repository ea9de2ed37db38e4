"""Phrases: “two weeks old with no reply” to a condition, and to its canonical spelling."""

from __future__ import annotations

import re

import lark

from tapestry.core.errors import Span, TapestryError
from tapestry.query.check.scope import nearest
from tapestry.query.context import Context
from tapestry.query.limits import BIDI, MAX_NESTING, check_length, too_deep
from tapestry.query.phrases.grammar import CONNECTIVES, KEYWORDS, grammar
from tapestry.query.phrases.nodes import PhraseNode, depth_of
from tapestry.query.phrases.printer import print_phrase
from tapestry.query.phrases.semantics import condition_of
from tapestry.query.tree.parsed import MisreadError, Parsed, on_message, placed

_PIECE = re.compile(r"[(),]|[^\s(),]+")
_STARTS = (
    "from X, to X, cc X, about W, mentioning W, in G, on list L, replies, replied to, "
    "with no reply, with more than two replies, two weeks old, newer than two weeks, "
    "starting a thread, voted for by X, voted for by more than five people, "
    "with a score above 3, among the top ten by votes, tagged T, annotated by X, "
    "with attachments, larger than 10 KB, in filter F"
)
_SHOWN = {
    "ME": "me",
    "WORD": "a word",
    "STRING": "a text in double quotes",
    "NUMBER": "a number",
    "UNIT": "weeks, days, hours, minutes, seconds",
    "OWNER": "terry's",
    "LPAR": "(",
    "RPAR": ")",
    "COMMA": "a comma",
    "$END": "the end",
}


def parse(text: str, context: Context, depth: int = 0) -> Parsed:
    """Read a filter as a phrase; ``depth`` is its nesting already.

    Raises MisreadError if it is none, TapestryError for what is understood but refused.
    """
    check_length(text)
    with placed(text):
        phrase = parse_phrase(text)
        if depth_of(phrase) + depth > MAX_NESTING:
            raise too_deep(Span(0, len(text)))
        condition = condition_of(phrase, context)
    return Parsed(on_message(condition), "phrase", print_phrase(phrase))


def parse_phrase(text: str) -> PhraseNode:
    """Return the syntax tree of a phrase; raises MisreadError if it is none."""
    try:
        return grammar().parse(text)  # type: ignore[return-value]
    except (lark.UnexpectedToken, lark.UnexpectedCharacters) as error:
        raise _misread(text, error) from None


def _misread(text: str, error: lark.UnexpectedToken | lark.UnexpectedCharacters) -> TapestryError:
    """Say which word cannot stand where it does, and what could."""
    at = error.pos_in_stream
    if at is None or (isinstance(error, lark.UnexpectedToken) and error.token.type == "$END"):
        at = len(text)
    allowed = error.expected if isinstance(error, lark.UnexpectedToken) else error.allowed
    expected = set(allowed or ())
    piece = _PIECE.search(text, at)
    if piece is None:
        message = "The phrase ends too soon."
        return MisreadError(message, Span(len(text), len(text)), _could_stand(expected))
    word = piece[0]
    span = Span(*piece.span())
    if text[at] in '"“':
        return MisreadError("This quote is not closed.", span, "Close it with a double quote.")
    if BIDI.search(word):
        return MisreadError(
            "There is a mark here that changes the order of text.", span, "Remove it."
        )
    keywords = [name.lower() for name in expected if name.lower() in (*KEYWORDS, *CONNECTIVES)]
    near = nearest(word, keywords)
    hint = _could_stand(expected)
    if near:
        hint = f"Did you mean “{near}”? {hint}"
    return MisreadError(f"“{word[:40]}” is not understood here.", span, hint)


def _could_stand(expected: set[str]) -> str:
    """Return the words, or the phrases, that could stand in a place."""
    if {"ME", "WORD"} <= expected:
        return "Here can stand: a name, an address such as joe@x.org, a domain such as @x.org, me."
    if not {"FROM", "ABOUT", "UNANSWERED"} <= expected:
        names = [_SHOWN.get(name, name.lower()) for name in sorted(expected)]
        names = [name for name in names if not name.startswith("__ignore")]
        return f"Here can stand: {', '.join(names)}."
    return f"Phrases that can stand here: {_STARTS}."
