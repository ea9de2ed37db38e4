"""Phrases: “two weeks old with no reply” to a condition, and to its canonical spelling."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from difflib import SequenceMatcher, get_close_matches

import lark

from tapestry.core.errors import Span, TapestryError
from tapestry.query.check.scope import nearest
from tapestry.query.context import Context
from tapestry.query.limits import BIDI, MAX_NESTING, check_length, too_deep
from tapestry.query.phrases.catalogue import KINDS
from tapestry.query.phrases.dates import is_settled, settled
from tapestry.query.phrases.grammar import CONNECTIVES, PLAIN, first_words, grammar, is_taken
from tapestry.query.phrases.joining import may_have_senders, with_senders
from tapestry.query.phrases.nodes import PhraseNode, depth_of
from tapestry.query.phrases.printer import print_phrase, quoted
from tapestry.query.phrases.semantics import condition_of
from tapestry.query.phrases.slips import NO_SLIPS, check_slips
from tapestry.query.phrases.spellings import run_of_words
from tapestry.query.phrases.wordings.rewording import goes_first, placed_in, reworded, with_topic
from tapestry.query.phrases.words import check_length_of_words, parse_words
from tapestry.query.tree.parsed import MisreadError, Parsed, on_message, placed

_PIECE = re.compile(r"[(),]|[^\s(),]+")
_QUOTE = re.compile('"[^"]*"|“[^”]*”')
_STARTS = (
    "from X, to X, cc X, about W, mentioning W, in G, on list L, replies, replied to, "
    "with no reply, with more than two replies, two weeks old, newer than two weeks, "
    "since Monday, before 2024, starting a thread, voted for by X, "
    "voted for by more than five people, with a score above 3, among the top ten by votes, "
    "tagged T, annotated by X, with attachments, larger than 10 KB, in filter F"
)
_SHOWN = {
    "ME": "“me”",
    "WORD": "a word",
    "STRING": "a text in double quotes",
    "NUMBER": "a number",
    "FILE_TYPE": "a kind of files such as “pictures”",
    "SHARE": "a share such as “half of” or “40% of”",
    "UNIT": "“weeks”, “days”, “hours”, “minutes”, “seconds”",
    "DAY": "a day such as 3 March 2025",
    "PERIOD": "a month or a year",
    "LAST": "a time such as “the last 3 days”",
    "OWNER": "“terry’s”",
    "LPAR": "“(”",
    "RPAR": "“)”",
    "COMMA": "a comma",
    "$END": "the end",
} | {name.upper(): f"“{name}”" for name in (*PLAIN, *CONNECTIVES)}
_MOST_WORDS, _SHORTEST = 12, 3
_ASKING = re.compile(r"(?<=\w)[?!]+\Z")
_MAY_HAVE_WILDCARDS = re.compile(r"\b(?:like|touching)\b|[*/\"”]", re.IGNORECASE)
_FEW = 7
"""Words of a hint, at most, that help where a word is not understood."""

_CLOSE = 0.75
"""Likeness of a word to one that begins a phrase, where any word may be searched for."""


def parse(
    text: str, context: Context, depth: int = 0, tree: Callable[[str], PhraseNode] | None = None
) -> Parsed:
    """Read a filter as a phrase; ``depth`` is its nesting already.

    ``tree`` returns the syntax tree of a text in another notation.  Raises MisreadError if it is
    none, TapestryError for what is understood but refused.
    """
    check_length(text)
    with placed(text):
        phrase, is_own = (tree(text), False) if tree else _read(text)
        if depth_of(phrase) + depth > MAX_NESTING:
            raise too_deep(Span(0, len(text)))
        dated, named = not is_settled(phrase), may_have_senders(phrase)
        fixed = with_senders(phrase, context) if named else phrase
        fixed = settled(fixed, context) if dated else fixed
        restated = dated or named or is_own or tree is parse_words
        condition = condition_of(fixed, context)
    return Parsed(on_message(condition), "phrase", print_phrase(fixed), restated)


def parse_phrase(text: str) -> PhraseNode:
    """Return the syntax tree of a phrase, or of a request in other words.

    Raises MisreadError if it is none.
    """
    node, _ = _read(text)
    return node


class NoRequestError(MisreadError):
    """No rule knows how a text would be said in phrases."""


def _read(text: str) -> tuple[PhraseNode, bool]:
    """Return the syntax tree of a text, and whether that is in its writer's own words."""
    check_length_of_words(text)
    ways = [_parsed, _reworded]
    if goes_first(text):
        ways.reverse()
    first, second = ways
    try:
        return first(text), first is _reworded
    except MisreadError as error:
        try:
            return second(text), second is _reworded
        except MisreadError as other:
            raise other if isinstance(error, NoRequestError) else error from None


def _reworded(text: str) -> PhraseNode:
    """Return the syntax tree of a request in the words of phrases."""
    request = reworded(text)
    topic = with_topic(request or text)
    if request is None and topic is None:
        raise NoRequestError("This is no request.", Span(0, 0))
    try:
        return placed_in(_parsed(request or text), text)
    except MisreadError:
        if topic is None:
            raise
        return placed_in(_parsed(topic), text)


def _parsed(text: str) -> PhraseNode:
    text = text if _MAY_HAVE_WILDCARDS.search(text) else _ASKING.sub("", text)
    try:
        node: PhraseNode = grammar().parse(text)  # type: ignore[assignment]
    except (lark.UnexpectedToken, lark.UnexpectedCharacters) as error:
        raise _misread(text, error) from None
    check_slips(node, text)
    return node


def is_misspelt(text: str) -> bool:
    """Tell whether a text is a phrase but for slips of the pen in its keywords.

    >>> is_misspelt("frm jones abot release"), is_misspelt("application form")
    (True, False)
    """
    words = text.split()
    if not _run_together().isdisjoint(map(str.lower, words)):
        return True
    near = {place: other for place, word in enumerate(words) if (other := _keyword_near(word))}
    if not near or len(words) > _MOST_WORDS:
        return False
    return any(
        _is_phrase(" ".join([changed.get(place, word) for place, word in enumerate(words)]))
        for changed in (near, *({place: other} for place, other in near.items()))
    )


@functools.cache
def _run_together() -> frozenset[str]:
    """Return the first two words of each phrase without the blank: ``votedfor``."""
    openings = (kind.template.split()[:2] for kind in KINDS.values())
    return frozenset(
        "".join(words) for words in openings if len(words) > 1 and "{" not in "".join(words)
    )


@functools.lru_cache(1024)
def _keyword_near(word: str) -> str | None:
    """Return the keyword that a word is but for a slip, not one that it is a form of."""
    lower = word.lower()
    if len(lower) < _SHORTEST or is_taken(lower) or lower in NO_SLIPS:
        return None
    near = next(iter(get_close_matches(lower, PLAIN, 1, _CLOSE)), lower)
    is_form = near.startswith(lower) or (lower.startswith(near) and len(near) > _SHORTEST)
    return None if is_form else near


def _is_phrase(text: str) -> bool:
    try:
        grammar().parse(text)
    except (lark.UnexpectedToken, lark.UnexpectedCharacters):
        return False
    return True


def _misread(text: str, error: lark.UnexpectedToken | lark.UnexpectedCharacters) -> TapestryError:
    """Say which word cannot stand where it does, and what could."""
    at = error.pos_in_stream
    if at is None or (isinstance(error, lark.UnexpectedToken) and error.token.type == "$END"):
        at = len(text)
    allowed = error.expected if isinstance(error, lark.UnexpectedToken) else error.allowed
    expected = set(allowed or ())
    piece = _PIECE.search(text, at)
    if piece is None:
        hint, is_general = _could_stand(expected)
        end = Span(len(text), len(text))
        return MisreadError("Something is missing at the end.", end, hint, is_general=is_general)
    word = piece[0]
    span = Span(*piece.span())
    quote = _QUOTE.match(text, at)
    if text[at] in '"“' and not quote:
        return MisreadError("This quote is not closed.", span, "Close it with a double quote.")
    if BIDI.search(word):
        return MisreadError(
            "There is a mark here that changes the order of text.", span, "Remove it."
        )
    near = _nearest(word, expected)
    hint, is_general = _could_stand(expected)
    words = quote or _run().match(text, span.start)
    if near is None and words and _begins_phrase(expected) and word.lower() not in CONNECTIVES:
        span, word = Span(*words.span()), words[0]
        near = f"mentioning {word if quote else quoted(' '.join(word.split()))}"
    if near:
        hint = f"Did you mean “{near}”? {hint}"
    message = f"“{word[:40]}” is not understood here."
    return MisreadError(message, span, hint, is_general=is_general)


@functools.cache
def _run() -> re.Pattern[str]:
    return run_of_words(first_words())


_KNOWN = frozenset((*PLAIN, *CONNECTIVES))


def _nearest(word: str, expected: set[str]) -> str | None:
    """Return the keyword, of those that can stand in a place, that a word was meant to be."""
    near = nearest(word, sorted(_KNOWN.intersection(map(str.lower, expected))))
    if near is None or near == word.lower() or not _begins_phrase(expected):
        return None if near == word.lower() else near
    return near if SequenceMatcher(None, word.lower()[:100], near).ratio() >= _CLOSE else None


def _begins_phrase(expected: set[str]) -> bool:
    return {"FROM", "ABOUT", "UNANSWERED"} <= expected


def _could_stand(expected: set[str]) -> tuple[str, bool]:
    """Return the words, or the phrases, that could stand in a place; whether they are any."""
    if {"ME", "WORD"} <= expected:
        name = "a name, an address such as joe@x.org, a domain such as @x.org, or “me”"
        return f"Expected {name}.", False
    if _begins_phrase(expected):
        return f"You can write: {_STARTS}.", True
    if "OR_MORE" in expected:
        words = "“at least”, “at most”, “more than” or “fewer than”"
        return f"Write {words} before the number.", False
    names = [_SHOWN[name] for name in sorted(expected) if name in _SHOWN]
    if not names:
        return "If it is a name or a text, put it in double quotes.", True
    *others, last = names
    listed = f"{', '.join(others)} or {last}" if others else last
    return f"Expected {listed} here.", len(others) > _FEW
