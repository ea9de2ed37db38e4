"""What a live filter's answer gains and loses: the query delta.

    events ─> Q at the window's start and at each event ─ compare ─> insert, delete, update

After the continuous query notification of the Oracle papers: every change in order
(transactional), or the difference between the ends of the window (compressed).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from tapestry.core.clock import BEGINNING
from tapestry.core.ports import Change
from tapestry.plan.engine import Engine, Row, evaluate
from tapestry.plan.lowering.lower import lower_among, lower_each, lower_events
from tapestry.plan.relation import SEPARATOR
from tapestry.run.execute import (
    Pair,
    Subscription,
    chunked,
    groups,
    pieces,
    variants_of,
)


def changes(
    engine: Engine, subscriptions: Iterable[Subscription], until: int, *, net: bool
) -> list[Change]:
    """Return the changes of each filter's answer in its (since, until]."""
    return change_windows(engine, subscriptions, [until], net=net)[0]


def change_windows(
    engine: Engine,
    subscriptions: Iterable[Subscription],
    instants: Sequence[int],
    *,
    net: bool,
) -> list[list[Change]]:
    """Return the changes of each filter's answer in each window that ends at the instants.

    The filters must be compiled by the general rule; the first window of each begins at its
    since.  All changes, in the order of their instants; or, ``net``, what the answer at a
    window's end has that it had not at its start, and the reverse, at its end.  Replayed
    upon Q(since), either gives Q at the end of every window.
    """
    by_id = {s.filter_id: s for s in subscriptions}
    some, every = _events(engine, by_id.values(), instants[-1])
    held = _held(engine, by_id, some, every, instants[-1])
    for filter_id, msgid, _ in held:
        if filter_id in every:
            some.setdefault((filter_id, msgid), set())
    runs: list[list[Change]] = [[] for _ in instants]
    for (filter_id, msgid), own in sorted(some.items()):
        before = held.get((filter_id, msgid, by_id[filter_id].since))
        rest = deque(sorted(own | every.get(filter_id, set())))
        for run, end in zip(runs, instants, strict=True):
            steps = []
            while rest and rest[0] <= end:
                at = rest.popleft()
                steps.append((at, held.get((filter_id, msgid, at))))
            for at, now in [(end, steps[-1][1])] if net and steps else steps:
                run += _difference(filter_id, msgid, at, before, now)
                before = now
    return [
        sorted(run, key=lambda change: (change.filter_id, change.at, change.msgid)) for run in runs
    ]


def _difference(
    filter_id: int, msgid: str, at: int, before: Row | None, now: Row | None
) -> Iterator[Change]:
    if now is None:
        if before is not None:
            yield Change(filter_id, msgid, "delete", at)
    elif before is None or before[5:] != now[5:]:
        evidence = tuple(now[6].split(SEPARATOR)) if now[6] else ()
        op: Literal["insert", "update"] = "insert" if before is None else "update"
        yield Change(filter_id, msgid, op, at, now[2], now[5], evidence)


def _held(
    engine: Engine,
    by_id: Mapping[int, Subscription],
    some: Mapping[Pair, set[int]],
    every: Mapping[int, set[int]],
    until: int,
) -> dict[tuple[int, str, int], Row]:
    """Return how messages match at the start of their filter's window and at its events."""
    messages = {
        (*pair, at)
        for pair, instants in some.items()
        for at in {by_id[pair[0]].since, *instants} - {BEGINNING}
    }
    answers = {
        (filter_id, at)
        for filter_id, instants in every.items()
        for at in {by_id[filter_id].since, *instants} - {BEGINNING}
    }
    held: dict[tuple[int, str, int], Row] = {}
    for chunk in chunked(groups((s, until) for s in by_id.values()), lambda _: 1):
        filter_ids = {row.filter_id for group in chunk for row in group.rows}
        among = sorted(one for one in messages if one[0] in filter_ids)
        each = sorted(one for one in answers if one[0] in filter_ids)
        rows = evaluate(engine, lower_among(chunk, among)) if among else []
        for row in rows + (evaluate(engine, lower_each(chunk, each)) if each else []):
            key = (row[0], row[1], row[4])
            if key not in held or row[5:] < held[key][5:]:
                held[key] = row
    return held


def _events(
    engine: Engine, subscriptions: Iterable[Subscription], until: int
) -> tuple[dict[Pair, set[int]], dict[int, set[int]]]:
    """Return the instants at which the answer can change, by message, and for every message."""
    some: dict[Pair, set[int]] = defaultdict(set)
    every: dict[int, set[int]] = defaultdict(set)
    whole = groups((s, until) for s in subscriptions)
    for chunk in chunked(pieces(whole), variants_of):
        statement = lower_events(chunk, until, engine.covers)
        for filter_id, msgid, _, _, c, *_ in evaluate(engine, statement) if statement else ():
            if msgid is None:
                every[filter_id].add(c)
            else:
                some[filter_id, msgid].add(c)
    return some, every
