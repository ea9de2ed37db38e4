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


@dataclass(frozen=True, slots=True)
class Date:
    """A day, a month or a year of the calendar, in the time zone of the filter's owner.

    As written it may lack its year, or be a weekday (Monday is 0) or a word such as yesterday;
    ``dates.settled`` gives it its day.  ``clock`` is a time of that day as it is shown, ``9:30``,
    ``21:40:05`` or ``21:40 UTC``.
    """

    span: Span
    year: int = 0
    month: int = 0
    day: int = 0
    weekday: int | None = None
    word: str = ""
    clock: str = ""

    @property
    def is_settled(self) -> bool:
        """Return whether it is the same date whenever it is read."""
        return self.year > 0


NOWHERE = Span(0, 0)
NO_PERSON = Person("", "", NOWHERE)
NO_WORDS = Words("", NOWHERE)
NO_AMOUNT = Amount(Decimal(0), NOWHERE)
NO_DATE = Date(NOWHERE)


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
    date: Date = NO_DATE

    @property
    def period(self) -> Date:
        """Return its date if that is a month or a year."""
        return NO_DATE if self.date.day else self.date


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


@dataclass(frozen=True, slots=True)
class Refused:
    """A phrase that is understood but cannot be a filter: why, and what to write instead."""

    message: str
    span: Span
    hint: str


PhraseNode = Phrase | Joined | Negated | Refused


def depth_of(node: PhraseNode) -> int:
    """Return how deep the parts of a phrase are nested."""
    return 0 if isinstance(node, Phrase | Refused) else node.depth


def kind_of(node: PhraseNode) -> str | None:
    """Return the kind of a single phrase, None of what is joined, negated or refused."""
    return node.kind if isinstance(node, Phrase) else None
