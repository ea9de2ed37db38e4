"""The parts of a filter's text that must all hold, and the text that such parts make.

The text stays the truth: parts are shown only if, joined again, they mean what the text means.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from tapestry.core.errors import TapestryError
from tapestry.query.context import Context
from tapestry.query.frontend import parse, read
from tapestry.query.limits import check_text
from tapestry.query.phrases.dates import is_settled, settled
from tapestry.query.phrases.nodes import Joined, PhraseNode
from tapestry.query.phrases.parser import parse_phrase
from tapestry.query.phrases.printer import print_phrase
from tapestry.query.tql import parser as tql
from tapestry.query.tree import nodes as n
from tapestry.query.tree.canonical import canonicalize
from tapestry.query.tree.parsed import MisreadError
from tapestry.query.tree.walk import conjuncts

MOST = 20
"""A text of more parts is shown as one: nobody would look for a part among so many."""

_ANYBODY = Context("me")

WORDS = {"phrase": " and ", "tql": " AND "}
"""Separators of the parts of a text, by its notation."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The conjuncts of a text in its ``notation``, ``phrase`` or ``tql``; an OR is one of them."""

    notation: str
    texts: tuple[str, ...]

    def without(self, place: int) -> str:
        """Return the text of all parts but the one at a place, counted from 0.

        >>> parts_of("from joe and (about index or about plan)", Context()).without(0)
        '(about index or about plan)'
        """
        others = [text for number, text in enumerate(self.texts) if number != place]
        return WORDS[self.notation].join(others)


def parts_of(text: str, context: Context) -> Parts | None:
    """Return the parts of a filter's text, None if it has but one or is no filter.

    >>> parts_of("sent by Jones, two weeks old with no reply", Context()).texts
    ('from Jones', 'two weeks old', 'with no reply')
    >>> parts_of("m.size > 3 AND (m.size < 9 OR m.subject = 'x')", Context()).texts
    ('m.size > 3', "(m.size < 9 OR m.subject = 'x')")
    """
    try:
        checked = read(text, context)
        parts = (
            _phrases(checked.lasting_text, context)
            if checked.notation == "phrase"
            else _conditions(text)
        )
        if not 1 < len(parts.texts) <= MOST:
            return None
        joined = read(join(parts.notation, parts.texts), context)
    except TapestryError:
        return None
    same = canonicalize(joined.condition) == canonicalize(checked.condition)
    return parts if same else None


def join(notation: str, texts: Sequence[str]) -> str:
    """Return the text that parts make, changed ones too; what is empty is left out.

    >>> join("phrase", ["from joe or mary", "", "about index"])
    '(from joe or from mary) and about index'
    """
    given = [text.strip() for text in texts if text.strip()]
    if len(given) == 1:
        return given[0]
    part = _phrase_part if notation == "phrase" else _condition_part
    return WORDS.get(notation, " and ").join(map(part, given))


def _phrases(text: str, context: Context) -> Parts:
    node = parse_phrase(text)
    node = node if is_settled(node) else settled(node, context)
    nodes: Sequence[PhraseNode] = (node,)
    if isinstance(node, Joined) and node.word == "and":
        nodes = node.parts
    return Parts("phrase", tuple(print_phrase(part, "and") for part in nodes))


def _conditions(text: str) -> Parts:
    """Cut a condition in TQL where its ANDs stand; SQL is one part."""
    branches = tql.parse(text).branches
    if len(branches) != 1 or tql.cannot_be(text) or _is_select(text):
        return Parts("tql", (text,))
    parts = conjuncts(branches[0].condition)
    return Parts("tql", tuple(_source(part, text) for part in parts))


def _is_select(text: str) -> bool:
    return text.lstrip(" \t\r\n(")[:6].upper() == "SELECT"


def _source(part: n.Condition, text: str) -> str:
    source = text[part.span.start : part.span.end].strip() if part.span else ""
    return f"({source})" if isinstance(part, n.Or) and not source.startswith("(") else source


def _phrase_part(text: str) -> str:
    with suppress(TapestryError):
        check_text(text)
        return print_phrase(parse_phrase(text), "and")
    with suppress(TapestryError):
        words = parse(text, _ANYBODY)
        if words.restated and words.phrase:
            return f"({words.phrase})" if len(words.phrase.split(" or ")) > 1 else words.phrase
    return f"({text})"


def _condition_part(text: str) -> str:
    with suppress(MisreadError, TapestryError):
        check_text(text)
        branches = tql.parse(text).branches
        if len(branches) == 1 and not isinstance(branches[0].condition, n.Or):
            return text
    return f"({text})"
