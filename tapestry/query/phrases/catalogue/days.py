"""Phrases about the day, month or year in which a message was received."""

from __future__ import annotations

from tapestry.core.clock import MINUTE, SECOND
from tapestry.core.schema import Type
from tapestry.query.context import Context
from tapestry.query.phrases.catalogue.conditions import column
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.phrases.dates import beginning, following
from tapestry.query.phrases.nodes import Date, Phrase
from tapestry.query.tree import nodes as n


def _compared(op: str, date: Date, context: Context) -> n.Condition:
    """Compare with the beginning of a date; a time of day is an instant, and has no end."""
    return n.Compare(op, column("received"), _instant(date, context))


def _after(date: Date, context: Context) -> n.Condition:
    if date.clock:
        return _compared(">", date, context)
    return _compared(">=", following(date), context)


def _until(date: Date, context: Context) -> n.Condition:
    if date.clock:
        return _compared("<=", date, context)
    return _compared("<", following(date), context)


def _instant(date: Date, context: Context) -> n.Literal:
    return n.Literal(beginning(date, context), Type.INSTANT, span=date.span)


def _within(phrase: Phrase, context: Context) -> n.Condition:
    date = phrase.date
    if date.clock:
        length = MINUTE if date.clock.count(":") == 1 else SECOND
        end = n.Literal(beginning(date, context) + length, Type.INSTANT, span=date.span)
        return n.And((_compared(">=", date, context), n.Compare("<", column("received"), end)))
    return n.And((_compared(">=", date, context), _until(date, context)))


KINDS = (
    PhraseKind(
        spelling="since {date:3 March 2025}",
        description="received on this day, in this month or year, or later",
        rank=40,
        meaning=lambda phrase, context: _compared(">=", phrase.date, context),
    ),
    PhraseKind(
        spelling="after {date:3 March 2025}",
        description="received later than this day, month or year",
        rank=43,
        meaning=lambda phrase, context: _after(phrase.date, context),
    ),
    PhraseKind(
        spelling="before {date:3 March 2025}",
        description="received earlier than this day, month or year",
        rank=41,
        meaning=lambda phrase, context: _compared("<", phrase.date, context),
    ),
    PhraseKind(
        spelling="until {date:3 March 2025}",
        description="received on this day, in this month or year, or earlier",
        rank=44,
        meaning=lambda phrase, context: _until(phrase.date, context),
    ),
    PhraseKind(
        spelling="on {day:3 March 2025}",
        description="received on this day, or in this month or year",
        rank=42,
        meaning=_within,
        extension=("period", "in {period}"),
    ),
)
