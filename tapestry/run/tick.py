"""One run of what is due: windows in, matches out, both in one transaction.

clock ─> until ─> due filters ─ compile ─> execute on a snapshot ─> commit (compare-and-set)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.ports import Clock, DueFilter, FilterStore, Match
from tapestry.plan.compile import Compiled, compile_filter
from tapestry.plan.words import disjunct_in_words
from tapestry.query.context import Context
from tapestry.run.execute import Engine, Pair, Subscription, execute
from tapestry.tables.append import read_until
from tapestry.tables.log import Snapshot, Tables, snapshot


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
) -> TickReport:
    """Run every due filter from the end of its last window up to now, or to ``at`` if later.

    The rests of older texts go first.  A filter that does not compile, or that the engine
    cannot run, is marked as failed and left where it stands.
    """
    begun = time.perf_counter()
    until = read_until(tables, clock, wall_clock if at is None else lambda: at)
    matches: tuple[Match, ...] = ()
    failed = 0
    while True:
        due = store.due(until)
        run = _run(engine_on, tables, store, due, until)
        matches += run.matches
        failed += run.failed
        if not run.committed or all(one.rest is None for one in due):
            seconds = time.perf_counter() - begun
            return TickReport(until, run.filters, matches, failed, seconds, run.committed)


@dataclass(frozen=True, slots=True)
class _Run:
    filters: int
    matches: tuple[Match, ...]
    failed: int
    committed: bool


def _run(
    engine_on: Callable[[Snapshot], Engine],
    tables: Tables,
    store: FilterStore,
    wanted: Sequence[DueFilter],
    until: int,
) -> _Run:
    """Run some filters, each over its window, and store what they found."""
    due: list[DueFilter] = []
    subscriptions: list[Subscription] = []
    failed = 0
    for one in wanted:
        try:
            plan = _compiled(one.text, one.owner, one.addresses)
        except TapestryError as error:
            store.fail(one, error.message)
            failed += 1
            continue
        due.append(one)
        subscriptions.append(
            Subscription(one.id, plan, one.audiences, one.since, one.start, one.until)
        )
    if not due:
        return _Run(0, (), failed, True)
    engine = engine_on(snapshot(tables))
    matches, failures = _execute(engine, subscriptions, until, store.known)
    for one in due:
        if one.id in failures:
            store.fail(one, failures[one.id].message)
    due = [one for one in due if one.id not in failures]
    matches = _with_reasons(matches, subscriptions)
    committed = store.commit(due, until, matches)
    return _Run(len(due), tuple(matches), failed + len(failures), committed)


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
        apart.setdefault(subscription.compiled.key, []).append(subscription)
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


def _with_reasons(matches: Sequence[Match], subscriptions: Sequence[Subscription]) -> list[Match]:
    """Say of each match in words which disjunct of its filter it meets."""
    compiled = {subscription.fid: subscription.compiled for subscription in subscriptions}
    met = {(match.filter, match.disjunct) for match in matches}
    words = {(fid, index): disjunct_in_words(compiled[fid], index) for fid, index in met}
    return [replace(match, reason=words[match.filter, match.disjunct]) for match in matches]


@lru_cache(maxsize=10_000)
def _compiled(text: str, owner: str, addresses: tuple[str, ...]) -> Compiled:
    return compile_filter(text, Context(owner, addresses))
