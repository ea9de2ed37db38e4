"""Backtests: what a filter would have delivered, when, and how the votes stood then.

As with previews an answer holds keys alone; messages, votes and replies are read when it is shown,
as far as the user may see them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from filters.inbox.lists.tallies import with_retracted
from filters.people import people
from filters.people.models import User
from filters.site.work.parts import services
from filters.site.work.queues.answers import Answers
from tapestry.core.schema import ANNOTATIONS, MESSAGES, RETRACTED, RETRACTION
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import Card, cards, lookup

BACKTESTS = Answers("backtest")
"""``{"count", "messages", "let_go", "deliveries", "since", "until", "audiences"}``: deliveries are
``(msgid, op, at)``, the newest first; of how many messages, and how many of these were let go."""

MOST_DELIVERIES = 1_000
"""Deliveries that are kept of a backtest: the newest."""

WEEKS = (4, 12, 52)
"""How far back one may look."""

_VOTE = ("annid", "ts", "msgid", "owner", "kind", "value", "number", "audience")

Votes = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class ShownDelivery:
    """A message that entered a list or left it at an instant; votes and replies up to then."""

    card: Card
    has_left: bool
    at: int
    votes_for: int
    votes_against: int
    replies: int


def backtest_question(text: str, *, mode: str, weeks: int) -> str:
    """Return what a backtest asks."""
    return f"{mode} {weeks}\n{text}"


def shown_deliveries(user: User, deliveries: Sequence[tuple[str, str, int]]) -> list[ShownDelivery]:
    """Return deliveries with their messages, as far as this user may see those now."""
    tables, audiences = services.tables(), people.audiences(user)
    msgids = {msgid for msgid, _, _ in deliveries}
    visible = cards(tables, msgids, audiences)
    votes = _votes(tables, visible, audiences)
    replies: dict[str, dict[str, int]] = defaultdict(dict)
    columns = ("msgid", "inreplyto", "ts")
    for reply in lookup(tables, MESSAGES, "inreplyto", visible, audiences, columns):
        replies[reply["inreplyto"]].setdefault(reply["msgid"], reply["ts"])
    return [
        ShownDelivery(
            visible[msgid],
            op == "delete",
            at,
            sum(vote["number"] > 0 for vote in _as_of(at, votes[msgid])),
            sum(vote["number"] < 0 for vote in _as_of(at, votes[msgid])),
            sum(ts <= at for ts in replies[msgid].values()),
        )
        for msgid, op, at in deliveries
        if msgid in visible
    ]


def _votes(tables: Tables, msgids: Iterable[str], audiences: Sequence[str]) -> Votes:
    """Return the votes on some messages, each with when it was taken back."""
    rows: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in lookup(tables, ANNOTATIONS, "msgid", msgids, audiences, _VOTE):
        if row["kind"] == RETRACTION or (row["kind"] == "vote" and row["number"]):
            rows[row["msgid"]].append(row)
    return defaultdict(list, {msgid: with_retracted(votes) for msgid, votes in rows.items()})


def _as_of(at: int, votes: Iterable[Mapping[str, Any]]) -> Collection[Mapping[str, Any]]:
    """Return the votes that stood at an instant; one that several audiences have is one vote."""
    return {vote["annid"]: vote for vote in votes if vote["ts"] <= at < vote[RETRACTED]}.values()
