"""Scores: what rules come to for a message, and that in words.

The ranking function is a weighted sum of what the rules count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from filters.inbox.appraisal.age import has_age, turns
from filters.inbox.appraisal.condition import Row, holds
from filters.inbox.appraisal.rules import Kind, Rule

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


def stored_score(rules: Sequence[Rule], row: Row, counts: Counts) -> int:
    """Return the part of a score that neither time nor reading changes: it is kept."""
    return sum(
        rule.weight * _times(rule, row, counts)
        for rule in rules
        if rule.kind not in (Kind.AGE, Kind.UNREAD)
    )


def age_score(rules: Sequence[Rule], received: int, now: int) -> int:
    """Return the part of a score that the age of a message makes at the instant ``now``."""
    return sum(
        rule.weight
        for rule in rules
        if rule.kind is Kind.AGE and rule.condition and has_age(rule.condition, received, now)
    )


def unread_score(rules: Sequence[Rule]) -> int:
    return sum(rule.weight for rule in rules if rule.kind is Kind.UNREAD)


@dataclass(frozen=True, slots=True)
class Span:
    """The messages received from ``begin`` until before ``end``: their age comes to ``score``.

    None is without a bound.
    """

    begin: int | None
    end: int | None
    score: int


def age_spans(rules: Sequence[Rule], now: int) -> list[Span]:
    """Return what the age of messages comes to at the instant ``now``, the oldest first."""
    conditions = [r.condition for r in rules if r.kind is Kind.AGE and r.condition is not None]
    instants = sorted({instant for condition in conditions for instant in turns(condition, now)})
    spans = [Span(None, None, age_score(rules, instants[0] - 1 if instants else now, now))]
    for begin in instants:
        score = age_score(rules, begin, now)
        if score != spans[-1].score:
            spans[-1] = replace(spans[-1], end=begin)
            spans.append(Span(begin, None, score))
    return spans


def importance(
    rules: Sequence[Rule], row: Row, counts: Counts, now: int, *, unread: bool
) -> Importance:
    """Return what rules come to for a message, and why: +5 from Jones, +2 for 2 votes."""
    total, parts = 0, []
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


def _times(
    rule: Rule, row: Row, counts: Counts, now: int | None = None, *, unread: bool = False
) -> int:
    match rule.kind:
        case Kind.VOTES:
            return counts.votes
        case Kind.REPLIES:
            return counts.replies
        case Kind.UNREAD:
            return int(unread)
    condition = rule.condition
    if condition is None:
        return 0
    if rule.kind is Kind.AGE:
        return 0 if now is None else int(has_age(condition, row.received, now))
    return int(holds(condition, row) is True)


def _words(rule: Rule, times: int) -> str:
    number = abs(times)
    if rule.kind is Kind.VOTES:
        against = " against it" if times < 0 else ""
        return f"for {number} vote{'' if number == 1 else 's'}{against}"
    if rule.kind is Kind.REPLIES:
        return f"for {number} repl{'y' if number == 1 else 'ies'}"
    return rule.text
