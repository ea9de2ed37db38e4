"""Ask a filter once: what matches now, and what would have matched so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tapestry.core.clock import BEGINNING
from tapestry.plan.compile import compile_filter
from tapestry.plan.engine import Engine, evaluate
from tapestry.plan.lowering.lower import lower_at
from tapestry.query.context import Context
from tapestry.run.execute import Subscription, execute, signature_groups
from tapestry.tables.log import Snapshot, Tables, snapshot
from tapestry.tables.read import Card, cards

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
) -> Answer:
    """Return Q(at): the messages that satisfy the filter at the instant, by ``ts``."""
    asked = Subscription(0, compile_filter(text, context), tuple(audiences), BEGINNING)
    statement = lower_at(signature_groups([(asked, at)]), at)
    rows = evaluate(engine_on(snapshot(tables)), statement)
    arrived: dict[str, int] = {}
    for _, msgid, _, ts, *_ in rows:
        arrived[msgid] = min(ts, arrived.get(msgid, ts))
    return _newest(tables, arrived, audiences, limit)


def preview(
    engine_on: EngineOn,
    tables: Tables,
    text: str,
    context: Context,
    audiences: Sequence[str],
    at: int,
    limit: int | None = None,
) -> Answer:
    """Return QM(at): all that the filter would have matched so far, by ``matched_at``."""
    asked = Subscription(0, compile_filter(text, context), tuple(audiences), BEGINNING)
    matches = execute(engine_on(snapshot(tables)), [asked], at, lambda _: set())
    return _newest(tables, {m.msgid: m.matched_at for m in matches}, audiences, limit)


def _newest(
    tables: Tables, instants: dict[str, int], audiences: Sequence[str], limit: int | None
) -> Answer:
    order = sorted(instants, key=lambda msgid: (-instants[msgid], msgid))[:limit]
    by_msgid = cards(tables, order, audiences)
    return Answer(len(instants), tuple(by_msgid[msgid] for msgid in order))
