"""Ask a filter once: what matches now, and what would have matched so far."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tapestry.core.clock import BEGINNING
from tapestry.core.completeness import Completeness
from tapestry.core.schema import MESSAGES
from tapestry.plan.compile import compile_filter
from tapestry.plan.engine import evaluate
from tapestry.plan.lowering.lower import lower_at
from tapestry.plan.validity import groups_while_valid
from tapestry.query.context import Context
from tapestry.rewrite.pipeline import Strategy
from tapestry.run.execute import Subscription, execute, signature_groups
from tapestry.run.resources import EngineOn
from tapestry.tables.delta.log import Tables, snapshot
from tapestry.tables.read.messages import Card, cards, lookup, narrowest_by_msgid


@dataclass(frozen=True, slots=True)
class Question:
    """A filter's text to be answered once, for somebody who may see ``audiences``.

    It asks for Q(at), or with ``so_far`` for QM(at): all that it would have matched until then.
    The engine may take so many ``seconds``; beyond them it raises TooSlowError.  With
    ``complete_until``, it is a filter's that waits for sources which are complete up to then.
    """

    text: str
    context: Context
    audiences: tuple[str, ...]
    at: int
    so_far: bool = False
    seconds: float = math.inf
    complete_until: int | None = None

    def subscription(self, strategy: Strategy = "fast", start: int | None = None) -> Subscription:
        """Return the filter that it asks, over a window from ``start`` on."""
        waits = self.complete_until is not None
        compiled = compile_filter(self.text, self.context, strategy, waits=waits)
        since, clock = BEGINNING if start is None else start, None
        if self.complete_until is not None:
            clock = Completeness(((BEGINNING, self.complete_until),), since)
        return Subscription(0, compiled, self.audiences, since, start, completeness=clock)


@dataclass(frozen=True, slots=True)
class Answer:
    """Messages, newest first, at most as many as were asked for; ``count`` is all of them."""

    count: int
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Instants:
    """Instants of a message in an answer: when it was received, and the instant of its rank.

    ``at`` is ``matched_at`` of a message in QM(at), and ``ts`` of one in Q(at).
    """

    at: int
    received: int


def ask(
    engine_on: EngineOn,
    tables: Tables,
    question: Question,
    limit: int | None = None,
    *,
    by_received: bool = False,
) -> Answer:
    """Return the cards of an answer: the greatest instant first, at most ``limit`` of them.

    Those of one instant, such as an import, are in the order received, and all of them with
    ``by_received``.
    """
    instants = _instants(engine_on, tables, question)
    ranks = dict.fromkeys(instants, 0) if by_received else instants
    order = _newest(tables, ranks, question.audiences, limit)
    by_msgid = cards(tables, order, question.audiences)
    return Answer(len(instants), tuple(by_msgid[msgid] for msgid in order))


def find(
    engine_on: EngineOn,
    tables: Tables,
    question: Question,
    among: Collection[str] | None = None,
) -> list[str]:
    """Return the answer, or what of it is ``among`` some msgids: the last received first."""
    instants = _instants(engine_on, tables, question)
    msgids = instants.keys() if among is None else instants.keys() & among
    return newest_first(tables, msgids, question.audiences)


def newest_first(tables: Tables, msgids: Iterable[str], audiences: Sequence[str]) -> list[str]:
    """Return messages that some audiences may see, the last received first."""
    return list(_newest(tables, dict.fromkeys(msgids, 0), audiences))


def find_instants(engine_on: EngineOn, tables: Tables, question: Question) -> dict[str, Instants]:
    """Return the instants of each message of the answer by msgid, in the order of ``ask``."""
    instants = _instants(engine_on, tables, question)
    newest = _newest(tables, instants, question.audiences)
    return {msgid: Instants(instants[msgid], received) for msgid, received in newest.items()}


def _instants(engine_on: EngineOn, tables: Tables, question: Question) -> dict[str, int]:
    """Return ``ts`` of the messages in Q(at), or ``matched_at`` of those in QM(at), by msgid."""
    asked = question.subscription()
    engine = engine_on(snapshot(tables))
    instants: dict[str, int] = {}
    with engine.limit(question.seconds):
        if question.so_far:
            matches = execute(engine, [asked], question.at, lambda _: set())
            return {match.msgid: match.matched_at for match in matches}
        groups = groups_while_valid(signature_groups([(asked, question.at)]), engine.covers)
        rows = evaluate(engine, lower_at(groups, question.at))
    for _, msgid, _, ts, *_ in rows:
        instants[msgid] = min(ts, instants.get(msgid, ts))
    return instants


def _newest(
    tables: Tables,
    instants: Mapping[str, int],
    audiences: Sequence[str],
    limit: int | None = None,
) -> dict[str, int]:
    """Return the newest messages by their instants, and among equals those received last.

    Each with the instant at which it was received.
    """
    msgids = sorted(instants, key=instants.__getitem__, reverse=True)
    if limit is not None and 0 < limit < len(msgids):
        last = instants[msgids[limit - 1]]
        msgids = [msgid for msgid in msgids if instants[msgid] >= last]
    columns = ("msgid", "received", "audience")
    rows = narrowest_by_msgid(lookup(tables, MESSAGES, "msgid", msgids, audiences, columns))
    received = {msgid: row["received"] for msgid, row in rows.items()}  # as its card has it
    newest = sorted(msgids, key=lambda msgid: (-instants[msgid], -received[msgid], msgid))[:limit]
    return {msgid: received[msgid] for msgid in newest}
