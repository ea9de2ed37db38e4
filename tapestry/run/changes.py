"""The changelog of a live filter: the inserts and retractions of its answer Q(t).

    events ─> Q at the window's start and at each event ─ compare ─> insert, delete, update

Continuous query notification [OracleCQ07]: every change in order (transactional), or the
difference between the ends of the window (compressed), also called a query delta.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Literal

from tapestry.core.clock import BEGINNING
from tapestry.core.ports import Change
from tapestry.plan.engine import Engine, Row, evaluate
from tapestry.plan.lowering.lower import lower_among, lower_each, lower_events
from tapestry.plan.validity import groups_while_valid
from tapestry.run.execute import (
    Pair,
    Subscription,
    batched_delta_queries,
    batched_groups,
    keys_of,
    signature_groups,
)

State = tuple[int, str, int]
"""A filter_id, a msgid and an instant: does the message match then, and how?"""


def change_windows(
    engine: Engine,
    subscriptions: Iterable[Subscription],
    instants: Sequence[int],
    *,
    net: bool,
) -> list[list[Change]]:
    """Return the changes of each filter's answer in each window that ends at the instants.

    The filters must be compiled by the general strategy; the first window of each begins at
    its since.  All changes, in the order of their instants; or, ``net``, what the answer at a
    window's end has that it did not have at its start, and the reverse, at its end.  Applied to
    Q(since), either gives Q at the end of every window.
    """
    by_id = {s.filter_id: s for s in subscriptions}
    message_events, filter_events = _events(engine, by_id.values(), instants[-1])
    rows = _states(engine, by_id, message_events, filter_events, instants[-1])
    for filter_id, msgid, _ in rows:
        if filter_id in filter_events:
            message_events.setdefault((filter_id, msgid), set())
    runs: list[list[Change]] = [[] for _ in instants]
    for (filter_id, msgid), own_events in sorted(message_events.items()):
        before = rows.get((filter_id, msgid, by_id[filter_id].since))
        events = deque(sorted(own_events | filter_events.get(filter_id, set())))
        for run, end in zip(runs, instants, strict=True):
            steps = []
            while events and events[0] <= end:
                at = events.popleft()
                steps.append((at, rows.get((filter_id, msgid, at))))
            for at, now in [(end, steps[-1][1])] if net and steps else steps:
                run += _difference(filter_id, msgid, at, before, now)
                before = now
    return [sorted(run, key=attrgetter("filter_id", "at", "msgid")) for run in runs]


def _difference(
    filter_id: int, msgid: str, at: int, before: Row | None, now: Row | None
) -> Iterator[Change]:
    if now is None:
        if before is not None:
            yield Change(filter_id, msgid, "delete", at)
    elif before is None or before[5:] != now[5:]:
        op: Literal["insert", "update"] = "insert" if before is None else "update"
        yield Change(filter_id, msgid, op, at, now[2], now[5], keys_of(now[6]))


def _states(
    engine: Engine,
    by_id: Mapping[int, Subscription],
    message_events: Mapping[Pair, set[int]],
    filter_events: Mapping[int, set[int]],
    until: int,
) -> dict[State, Row]:
    """Return how messages match at the start of their filter's window, and at its events."""
    of_messages = sorted(
        (*pair, at)
        for pair, instants in message_events.items()
        for at in {by_id[pair[0]].since, *instants} - {BEGINNING}
    )
    of_filters = sorted(
        (filter_id, at)
        for filter_id, instants in filter_events.items()
        for at in {by_id[filter_id].since, *instants} - {BEGINNING}
    )
    states: dict[State, Row] = {}
    groups = signature_groups((s, until) for s in by_id.values())
    for batch in batched_groups(groups_while_valid(groups, engine.covers)):
        filter_ids = {row.filter_id for group in batch for row in group.rows}
        among = [state for state in of_messages if state[0] in filter_ids]
        at_all = [instant for instant in of_filters if instant[0] in filter_ids]
        rows = evaluate(engine, lower_among(batch, among)) if among else []
        for row in rows + (evaluate(engine, lower_each(batch, at_all)) if at_all else []):
            key = (row[0], row[1], row[4])
            if key not in states or row[5:] < states[key][5:]:
                states[key] = row
    return states


def _events(
    engine: Engine, subscriptions: Iterable[Subscription], until: int
) -> tuple[dict[Pair, set[int]], dict[int, set[int]]]:
    """Return the instants at which the answer can change: of one message, and of any message."""
    message_events: dict[Pair, set[int]] = defaultdict(set)
    filter_events: dict[int, set[int]] = defaultdict(set)
    groups = signature_groups((s, until) for s in subscriptions)
    for batch in batched_delta_queries(groups_while_valid(groups, engine.covers)):
        statement = lower_events(batch, until, engine.covers)
        for filter_id, msgid, _, _, c, *_ in evaluate(engine, statement) if statement else ():
            if msgid is None:
                filter_events[filter_id].add(c)
            else:
                message_events[filter_id, msgid].add(c)
    return message_events, filter_events
