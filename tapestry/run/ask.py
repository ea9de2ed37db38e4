"""Ask a filter once: what matches now, and what would have matched so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from tapestry.core.clock import BEGINNING
from tapestry.core.schema import MESSAGES
from tapestry.plan.compile import compile_filter
from tapestry.plan.engine import Engine, evaluate
from tapestry.plan.lowering.lower import lower_at
from tapestry.plan.validity import groups_while_valid
from tapestry.query.context import Context
from tapestry.run.execute import Subscription, execute, signature_groups
from tapestry.tables.delta.log import Snapshot, Tables, snapshot
from tapestry.tables.read.messages import Card, cards, lookup, narrowest_by_msgid

EngineOn = Callable[[Snapshot], Engine]


@dataclass(frozen=True, slots=True)
class Answer:
    """Messages, newest first, at most as many as were asked for; ``count`` is all of them."""

    count: int
    cards: tuple[Card, ...]


def ask(
    engine_on: EngineOn,
    tables: Tables,
    text: str,
    context: Context,
    audiences: Sequence[str],
    at: int,
    limit: int | None = None,
    *,
    so_far: bool = False,
    by_received: bool = False,
    seconds: float = math.inf,
) -> Answer:
    """Return Q(at): the messages that satisfy the filter at the instant, by ``ts``.

    With ``so_far`` return QM(at): all that it would have matched until then, by ``matched_at``.
    Those of one instant, such as an import, are in the order received, and all of them with
    ``by_received``.
    Raise TooSlowError if the engine takes more than so many seconds.
    """
    instants = _instants(
        engine_on, tables, text, context, audiences, at, so_far=so_far, seconds=seconds
    )
    ranks = dict.fromkeys(instants, 0) if by_received else instants
    order = _newest(tables, ranks, audiences, limit)
    by_msgid = cards(tables, order, audiences)
    return Answer(len(instants), tuple(by_msgid[msgid] for msgid in order))


def find(
    engine_on: EngineOn,
    tables: Tables,
    text: str,
    context: Context,
    audiences: Sequence[str],
    at: int,
    among: Collection[str] | None = None,
    *,
    seconds: float = math.inf,
) -> list[str]:
    """Return Q(at), or what of it is ``among`` some msgids: all of it, the last received first.

    Raise TooSlowError if the engine takes more than so many seconds.
    """
    instants = _instants(engine_on, tables, text, context, audiences, at, seconds=seconds)
    found = instants.keys() if among is None else instants.keys() & among
    return list(_newest(tables, dict.fromkeys(found, 0), audiences, None))


@dataclass(frozen=True, slots=True)
class Instants:
    """Instants of a message that matches: when it was received, and the instant of its rank.

    ``at`` is ``matched_at`` of a message in QM(at), and ``ts`` of one in Q(at).
    """

    at: int
    received: int


def find_instants(
    engine_on: EngineOn,
    tables: Tables,
    text: str,
    context: Context,
    audiences: Sequence[str],
    at: int,
    *,
    so_far: bool = False,
    seconds: float = math.inf,
) -> dict[str, Instants]:
    """Return the instants of each message of Q(at), or with ``so_far`` of QM(at), by msgid.

    All of them, in the order of ``ask``: the greatest ``at`` first, among equals the one received
    last.  Raise TooSlowError if the engine takes more than so many seconds.
    """
    instants = _instants(
        engine_on, tables, text, context, audiences, at, so_far=so_far, seconds=seconds
    )
    newest = _newest(tables, instants, audiences, None)
    return {msgid: Instants(instants[msgid], received) for msgid, received in newest.items()}


def _instants(
    engine_on: EngineOn,
    tables: Tables,
    text: str,
    context: Context,
    audiences: Sequence[str],
    at: int,
    *,
    so_far: bool = False,
    seconds: float,
) -> dict[str, int]:
    """Return ``ts`` of the messages in Q(at), or ``matched_at`` of those in QM(at), by msgid."""
    asked = Subscription(0, compile_filter(text, context), tuple(audiences), BEGINNING)
    engine = engine_on(snapshot(tables))
    instants: dict[str, int] = {}
    with engine.limit(seconds):
        if so_far:
            matches = execute(engine, [asked], at, lambda _: set())
            return {match.msgid: match.matched_at for match in matches}
        groups = groups_while_valid(signature_groups([(asked, at)]), engine.covers)
        rows = evaluate(engine, lower_at(groups, at))
    for _, msgid, _, ts, *_ in rows:
        instants[msgid] = min(ts, instants.get(msgid, ts))
    return instants


def _newest(
    tables: Tables, instants: Mapping[str, int], audiences: Sequence[str], limit: int | None
) -> dict[str, int]:
    """Return the newest messages by their instants, and among equals those received last.

    Each with the instant at which it was received.
    """
    found = sorted(instants, key=instants.__getitem__, reverse=True)
    if limit is not None and 0 < limit < len(found):
        last = instants[found[limit - 1]]
        found = [msgid for msgid in found if instants[msgid] >= last]
    columns = ("msgid", "received", "audience")
    rows = narrowest_by_msgid(lookup(tables, MESSAGES, "msgid", found, audiences, columns))
    received = {msgid: row["received"] for msgid, row in rows.items()}  # as its card has it
    newest = sorted(found, key=lambda msgid: (-instants[msgid], -received[msgid], msgid))[:limit]
    return {msgid: received[msgid] for msgid in newest}
