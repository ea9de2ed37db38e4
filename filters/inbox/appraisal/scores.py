"""Scores: what rules come to for a message, and that in words.

The ranking function is a weighted sum of what the rules count.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from filters.inbox.appraisal.rules import Kind, Rule
from filters.inbox.models import Card
from tapestry.core.clock import BEGINNING, NEVER
from tapestry.plan.row_predicates import Row, holds
from tapestry.tables.read.messages import CARD

MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class Counts:
    """What is counted of a message: ``votes`` for it less those against it, and its replies."""

    votes: int = 0
    replies: int = 0


@dataclass(frozen=True, slots=True)
class Importance:
    """What the rules come to for a message: the sum, and each part of it in words."""

    total: int
    words: str


def stored_score(rules: Sequence[Rule], card: Card, counts: Counts) -> int:
    """Return the part of a score that neither time nor reading changes: it is kept."""
    row = _row(card)
    return sum(rule.weight * _times(rule, row, counts) for rule in rules if rule.kind.is_stored)


def unread_score(rules: Sequence[Rule]) -> int:
    return sum(rule.weight for rule in rules if rule.kind is Kind.UNREAD)


@dataclass(frozen=True, slots=True)
class Span:
    """The messages received from ``begin`` until before ``end``: their age comes to ``score``."""

    begin: int
    end: int
    score: int


def age_spans(rules: Sequence[Rule], now: int) -> list[Span]:
    """Return what the age of messages comes to at the instant ``now``, the oldest first."""
    aged = [rule for rule in rules if rule.kind is Kind.AGE]
    turns = {now - age + more for rule in aged for age in rule.ages for more in (0, 1)}

    def score(received: int) -> int:
        row = {"received": received}
        return sum(rule.weight for rule in aged if holds(rule.condition, row, now))

    pieces = groupby([BEGINNING, *sorted(turns)], score)
    begins = [(next(instants), total) for total, instants in pieces]
    ends = [*(begin for begin, _ in begins[1:]), NEVER]
    return [Span(begin, end, total) for (begin, total), end in zip(begins, ends, strict=True)]


def age_score(spans: Sequence[Span], received: int) -> int:
    """Return what the age of a message that was received at an instant comes to."""
    return spans[bisect_right(spans, received, key=attrgetter("begin")) - 1].score


def next_turn(rules: Sequence[Rule], received: Sequence[int], now: int) -> int:
    """Return an instant after ``now`` before which no age of some messages comes to anything else.

    ``received`` is when they were received, sorted.
    """
    turns = [NEVER]
    for age in {age for rule in rules for age in rule.ages}:
        at = bisect_left(received, now - age)
        turns += [max(instant + age, now + 1) for instant in received[at : at + 1]]
    return min(turns)


def importance(
    rules: Sequence[Rule], card: Card, counts: Counts, now: int, *, unread: bool
) -> Importance:
    """Return what rules come to for a message, and why: +5 from Jones, +2 for 2 votes."""
    row, total, parts = _row(card), 0, []
    for rule in rules:
        times = _times(rule, row, counts, now, unread=unread)
        if times and rule.weight:
            total += rule.weight * times
            parts.append(f"{signed(rule.weight * times)} {_words(rule, times)}")
    return Importance(total, ", ".join(parts))


def signed(number: int) -> str:
    """Return a number with its sign.

    >>> signed(5), signed(-3) == MINUS + "3", signed(0)
    ('+5', True, '0')
    """
    return f"{MINUS if number < 0 else '+' if number else ''}{abs(number)}"


def _row(card: Card) -> Row:
    """Return the columns of a card's message: what is empty there is NULL."""
    return {name: None if (value := getattr(card, name)) == "" else value for name in CARD}


def _times(rule: Rule, row: Row, counts: Counts, now: int = 0, *, unread: bool = False) -> int:
    match rule.kind:
        case Kind.VOTES:
            return counts.votes
        case Kind.REPLIES:
            return counts.replies
        case Kind.UNREAD:
            return int(unread)
    return int(holds(rule.condition, row, now) is True)


def _words(rule: Rule, times: int) -> str:
    number = abs(times)
    if rule.kind is Kind.VOTES:
        against = " against it" if times < 0 else ""
        return f"for {number} vote{'' if number == 1 else 's'}{against}"
    if rule.kind is Kind.REPLIES:
        return f"for {number} repl{'y' if number == 1 else 'ies'}"
    return rule.text
