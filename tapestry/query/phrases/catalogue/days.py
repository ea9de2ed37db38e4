"""Phrases about the day, month or year in which a message was received, or of its Date header."""

from __future__ import annotations

from tapestry.core.clock import MINUTE, SECOND
from tapestry.core.schema import Type
from tapestry.query.context import Context
from tapestry.query.phrases.catalogue.conditions import column
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.phrases.dates import beginning, following
from tapestry.query.phrases.nodes import Date
from tapestry.query.tree import nodes as n


def _compared(of: str, op: str, date: Date, context: Context) -> n.Condition:
    """Compare with the beginning of a date; a time of day is an instant, and has no end."""
    return n.Compare(op, column(of), _instant(date, context))


def _after(of: str, date: Date, context: Context) -> n.Condition:
    if date.clock:
        return _compared(of, ">", date, context)
    return _compared(of, ">=", following(date), context)


def _until(of: str, date: Date, context: Context) -> n.Condition:
    if date.clock:
        return _compared(of, "<=", date, context)
    return _compared(of, "<", following(date), context)


def _instant(date: Date, context: Context) -> n.Literal:
    return n.Literal(beginning(date, context), Type.INSTANT, span=date.span)


def _within(of: str, date: Date, context: Context) -> n.Condition:
    if date.clock:
        length = MINUTE if date.clock.count(":") == 1 else SECOND
        end = n.Literal(beginning(date, context) + length, Type.INSTANT, span=date.span)
        return n.And((_compared(of, ">=", date, context), n.Compare("<", column(of), end)))
    return n.And((_compared(of, ">=", date, context), _until(of, date, context)))


def _kinds(of: str, opening: str, verb: str, ranks: range) -> tuple[PhraseKind, ...]:
    """Return the phrases that compare a column of instants with a day, a month or a year."""
    since, before, on, after, until = ranks
    return (
        PhraseKind(
            spelling=f"{opening}since {{date:3 March 2025}}",
            description=f"{verb} on this day, in this month or year, or later",
            rank=since,
            meaning=lambda phrase, context: _compared(of, ">=", phrase.date, context),
        ),
        PhraseKind(
            spelling=f"{opening}after {{date:3 March 2025}}",
            description=f"{verb} later than this day, month or year",
            rank=after,
            meaning=lambda phrase, context: _after(of, phrase.date, context),
        ),
        PhraseKind(
            spelling=f"{opening}before {{date:3 March 2025}}",
            description=f"{verb} earlier than this day, month or year",
            rank=before,
            meaning=lambda phrase, context: _compared(of, "<", phrase.date, context),
        ),
        PhraseKind(
            spelling=f"{opening}until {{date:3 March 2025}}",
            description=f"{verb} on this day, in this month or year, or earlier",
            rank=until,
            meaning=lambda phrase, context: _until(of, phrase.date, context),
        ),
        PhraseKind(
            spelling=f"{opening}on {{day:3 March 2025}}",
            description=f"{verb} on this day, or in this month or year",
            rank=on,
            meaning=lambda phrase, context: _within(of, phrase.date, context),
            others=() if opening else ("FROM? LAST_DAY",),
            extension=("period", f"{opening}in {{period}}"),
        ),
    )


KINDS = (
    *_kinds("received", "", "received", range(40, 45)),
    *_kinds("date", "dated ", "sent, as its Date says,", range(80, 85)),
)
