"""The syntax tree of phrases, before it is a condition: phrases joined by and, or, not."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from tapestry.core.errors import Span


@dataclass(frozen=True, slots=True)
class Person:
    """A person: ``kind`` is address, domain, name or me."""

    kind: str
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Words:
    """A word, a quoted text, or the name of a group, list, tag, owner or filter."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Amount:
    """A number, with a unit of time where it is an age."""

    value: Decimal
    span: Span
    unit: str = ""


NOWHERE = Span(0, 0)
NO_PERSON = Person("", "", NOWHERE)
NO_WORDS = Words("", NOWHERE)
NO_AMOUNT = Amount(Decimal(0), NOWHERE)


@dataclass(frozen=True, slots=True)
class Phrase:
    """One phrase; ``kind`` is its name in the catalogue, which says the slots that it has."""

    kind: str
    span: Span
    person: Person = NO_PERSON
    words: Words = NO_WORDS
    owner: Words = NO_WORDS
    amount: Amount = NO_AMOUNT
    upper: Amount = NO_AMOUNT


@dataclass(frozen=True, slots=True)
class Joined:
    """Two or more parts joined by ``and`` or ``or``, none of them joined by the same word."""

    word: str
    parts: tuple[PhraseNode, ...]
    depth: int


@dataclass(frozen=True, slots=True)
class Negated:
    """``not`` and a part."""

    part: PhraseNode
    depth: int


PhraseNode = Phrase | Joined | Negated


def depth_of(node: PhraseNode) -> int:
    """Return how deep the parts of a phrase are nested."""
    return 0 if isinstance(node, Phrase) else node.depth
