"""Phrases about one's calendar: whom one meets, and what was cancelled."""

from __future__ import annotations

from decimal import Decimal

from tapestry.core.contacts import CANCELLED, MEETING
from tapestry.core.schema import MESSAGES
from tapestry.query.context import Context
from tapestry.query.phrases.catalogue.conditions import (
    column,
    equal,
    length,
    listed_by_me,
    text,
)
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.phrases.nodes import NOWHERE, Amount, Phrase
from tapestry.query.tree import nodes as n


def _met_within(phrase: Phrase, context: Context) -> n.Condition:
    """Return that a meeting with the sender begins after now, and so soon."""
    starts = column("starts", "a")
    end = n.Arith("+", n.Now(), length(phrase.amount))
    soon = (n.Compare(">", starts, n.Now()), n.Compare("<", starts, end))
    return listed_by_me(MEETING, "sender", context, *soon)


def _of_cancelled(context: Context) -> n.Condition:
    """Return that its event is cancelled in one's calendar, or by its sender, not before it."""
    tests = (
        equal(column("event", "c"), column("event")),
        equal(column("method", "c"), text("cancel")),
        equal(column("sender", "c"), column("sender")),
        n.Compare(">=", column("received", "c"), column("received")),
    )
    by_mail = n.Exists((n.Binding("c", MESSAGES),), n.And(tests))
    return n.Or((by_mail, listed_by_me(CANCELLED, "event", context)))


_SOON = (
    ("RECENT_DAY", Amount(Decimal(1), NOWHERE, "day")),
    ("RECENT_WEEK", Amount(Decimal(1), NOWHERE, "week")),
)

KINDS = (
    PhraseKind(
        spelling="from people I meet within {age:one week}",
        description="sent by somebody with whom a meeting in your calendar begins so soon",
        rank=79,
        meaning=_met_within,
        others=("(FROM | BY) SOMEBODY_I_MEET WITHIN age",),
        shorthands=tuple(
            (f"{who} {when}", amount)
            for who in ("FROM PEOPLE I MEET", "(FROM | BY) SOMEBODY_I_MEET")
            for when, amount in _SOON
        ),
    ),
    PhraseKind(
        spelling="about cancelled events",
        description="with an invitation to what was cancelled since, in the calendar or by mail",
        rank=80,
        meaning=lambda _, context: _of_cancelled(context),
        others=("ABOUT CANCELLED_EVENT",),
    ),
)
