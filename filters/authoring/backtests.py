"""Backtests: what a filter would have delivered, when, and how the votes stood then.

As with previews an answer holds keys alone; messages, votes and replies are read when it is shown,
as far as the user may see them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User

from filters.accounts import people
from filters.runtime import services
from filters.runtime.answers import Answers
from tapestry.core.schema import MESSAGES
from tapestry.tables.read import Card, annotations_on, cards, lookup

BACKTESTS = Answers("backtest")
"""``{"count", "deliveries": [(msgid, op, at)], "since", "until", "audiences"}``: newest first."""

MOST_DELIVERIES = 1_000
"""Deliveries that are kept of a backtest: the newest."""

WEEKS = (4, 12, 52)
"""How far back one may look."""


@dataclass(frozen=True, slots=True)
class ShownDelivery:
    """A message that entered a list or left it at an instant; votes and replies up to then."""

    card: Card
    has_left: bool
    at: int
    votes_for: int
    votes_against: int
    replies: int


def backtest_question(text: str, *, live: bool, weeks: int) -> str:
    """Return what a backtest asks."""
    return f"{'live' if live else 'kept'} {weeks}\n{text}"


def shown_deliveries(user: User, deliveries: Sequence[tuple[str, str, int]]) -> list[ShownDelivery]:
    """Return deliveries with their messages, as far as this user may see those now."""
    tables, audiences = services.tables(), people.audiences(user)
    msgids = {msgid for msgid, _, _ in deliveries}
    visible = cards(tables, msgids, audiences)
    votes: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for row in annotations_on(tables, visible, audiences):
        if row.annotation.kind == "vote" and row.annotation.number:
            votes[row.annotation.msgid].append((row.ts, row.annotation.number))
    replies: dict[str, dict[str, int]] = defaultdict(dict)
    columns = ("msgid", "inreplyto", "ts")
    for reply in lookup(tables, MESSAGES, "inreplyto", visible, audiences, columns):
        replies[reply["inreplyto"]].setdefault(reply["msgid"], reply["ts"])
    return [
        ShownDelivery(
            visible[msgid],
            op == "delete",
            at,
            sum(ts <= at and number > 0 for ts, number in votes[msgid]),
            sum(ts <= at and number < 0 for ts, number in votes[msgid]),
            sum(ts <= at for ts in replies[msgid].values()),
        )
        for msgid, op, at in deliveries
        if msgid in visible
    ]
