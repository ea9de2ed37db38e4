"""One run of what is due: windows in, matches out, both in one transaction.

clock ─> until ─> due filters ─ compile ─> execute on a snapshot ─> commit (compare-and-set)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.ports import Clock, DueFilter, FilterStore, Match
from tapestry.plan.compile import Compiled, compile_filter
from tapestry.query.context import Context
from tapestry.run.execute import Engine, Pair, Subscription, execute
from tapestry.tables.append import read_until
from tapestry.tables.log import Snapshot, Tables, snapshot

Resolve = Callable[[str | None, str], str]


@dataclass(frozen=True, slots=True)
class TickReport:
    """What one run did; ``committed`` is False if another run had taken the windows."""

    until: int
    filters: int
    matches: tuple[Match, ...]
    failed: int
    seconds: float
    committed: bool


def tick(
    engine_on: Callable[[Snapshot], Engine],
    tables: Tables,
    clock: Clock,
    store: FilterStore,
    at: int | None = None,
    resolve: Callable[[str], Resolve] | None = None,
) -> TickReport:
    """Run every due filter from the end of its last window up to now, or to ``at`` if later.

    ``resolve`` gives, for an owner, the function that finds the text of the filters they may
    refer to.  A filter that does not compile, or that the engine cannot run, is marked
    as failed and left where it stands.
    """
    begun = time.perf_counter()
    until = read_until(tables, clock, wall_clock if at is None else lambda: at)
    due: list[DueFilter] = []
    subscriptions: list[Subscription] = []
    failed = 0
    for one in store.due(until):
        try:
            plan = _plan(one, resolve)
        except TapestryError as error:
            store.fail(one.id, error.message)
            failed += 1
            continue
        due.append(one)
        subscriptions.append(Subscription(one.id, plan, one.audiences, one.since, one.start))
    if not due:
        return TickReport(until, 0, (), failed, time.perf_counter() - begun, True)
    engine = engine_on(snapshot(tables))
    matches, failures = _execute(engine, subscriptions, until, store.known)
    for fid, failure in failures.items():
        store.fail(fid, failure.message)
    due = [one for one in due if one.id not in failures]
    committed = store.commit(due, until, matches)
    seconds = time.perf_counter() - begun
    failed += len(failures)
    return TickReport(until, len(due), tuple(matches), failed, seconds, committed)


def _execute(
    engine: Engine,
    subscriptions: Sequence[Subscription],
    until: int,
    known: Callable[[Collection[Pair]], set[Pair]],
) -> tuple[list[Match], dict[int, TapestryError]]:
    """Run all filters together; where that fails, each signature by itself.

    So no filter keeps the others from running.  Raises what failed if nothing runs.
    """
    try:
        return execute(engine, subscriptions, until, known), {}
    except TapestryError as error:
        together = error
    apart: dict[str, list[Subscription]] = {}
    for subscription in subscriptions:
        apart.setdefault(subscription.compiled.signature.key, []).append(subscription)
    matches: list[Match] = []
    failures: dict[int, TapestryError] = {}
    for alike in apart.values():
        try:
            matches += execute(engine, alike, until, known)
        except TapestryError as error:
            failures |= {subscription.fid: error for subscription in alike}
    if len(failures) == len(subscriptions):
        raise together
    return matches, failures


def _plan(one: DueFilter, resolve: Callable[[str], Resolve] | None) -> Compiled:
    """Return a filter's plan: kept, unless it needs the filters it refers to."""
    try:
        return _compiled(one.text, one.owner, one.addresses)
    except TapestryError:
        if resolve is None:
            raise
    return compile_filter(one.text, Context(one.owner, one.addresses, resolve(one.owner)))


@lru_cache(maxsize=10_000)
def _compiled(text: str, owner: str, addresses: tuple[str, ...]) -> Compiled:
    return compile_filter(text, Context(owner, addresses))
