"""One run of what is due: windows in, matches out, both in one transaction.

clock ─> until ─> due filters ─ compile ─> execute on a snapshot ─> commit (compare-and-set)
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.ports import Change, Clock, DueFilter, FilterStore, Match
from tapestry.plan.compile import Compiled, compile_filter
from tapestry.plan.words import disjunct_in_words
from tapestry.query.context import Context
from tapestry.rewrite.pipeline import Rule
from tapestry.run.answer import Engine
from tapestry.run.changes import changes
from tapestry.run.execute import Subscription, execute
from tapestry.tables.append import read_until
from tapestry.tables.log import Snapshot, Tables, snapshot

log = logging.getLogger(__name__)

Found = TypeVar("Found", Match, Change)


@dataclass(frozen=True, slots=True)
class TickReport:
    """What one run did: matches, and the changes of live filters.

    ``committed`` is False if another run had taken the windows.
    """

    until: int
    filters: int
    matches: tuple[Match, ...]
    changes: tuple[Change, ...]
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
    changed: tuple[Change, ...] = ()
    failed = 0
    while True:
        due = store.due(until)
        run = _run(engine_on, tables, store, due, until)
        matches += run.matches
        changed += run.changes
        failed += run.failed
        if not run.committed or all(one.rest is None for one in due):
            seconds = time.perf_counter() - begun
            return TickReport(until, run.filters, matches, changed, failed, seconds, run.committed)


@dataclass(frozen=True, slots=True)
class _Run:
    filters: int
    matches: tuple[Match, ...]
    changes: tuple[Change, ...]
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
            rule: Rule = "general" if one.live else "fast"
            plan = _compiled(one.text, one.owner, one.addresses, rule)
        except TapestryError as error:
            store.fail(one, error.message)
            failed += 1
            continue
        due.append(one)
        subscriptions.append(
            Subscription(one.id, plan, one.audiences, one.since, one.start, one.until)
        )
    if not due:
        return _Run(0, (), (), failed, True)
    engine = engine_on(snapshot(tables))
    live = {one.id for one in due if one.live}

    def keep(some: Sequence[Subscription]) -> list[Match]:
        return execute(engine, some, until, store.known)

    def follow(some: Sequence[Subscription]) -> list[Change]:
        return changes(engine, some, until, net=False)

    matches, failures = _together(keep, [s for s in subscriptions if s.fid not in live])
    changed, more = _together(follow, [s for s in subscriptions if s.fid in live])
    failures |= more
    if len(failures) == len(subscriptions):
        raise next(iter(failures.values()))
    for one in due:
        if one.id in failures:
            store.fail(one, failures[one.id].message)
    due = [one for one in due if one.id not in failures]
    in_words = _Words(subscriptions)
    matches = [replace(m, reason=in_words(m.filter, m.disjunct)) for m in matches]
    changed = [
        c if c.op == "delete" else replace(c, reason=in_words(c.filter, c.disjunct))
        for c in changed
    ]
    committed = store.commit(due, until, matches, changed)
    return _Run(len(due), tuple(matches), tuple(changed), failed + len(failures), committed)


def _together(
    run: Callable[[Sequence[Subscription]], list[Found]], subscriptions: Sequence[Subscription]
) -> tuple[list[Found], dict[int, TapestryError]]:
    """Run all filters together; where that fails, each signature by itself.

    So no filter keeps the others from running.  Failures come by filter.
    """
    try:
        return (run(subscriptions) if subscriptions else []), {}
    except TapestryError as error:
        log.warning("Not all together: %s", error.message)
    apart: dict[str, list[Subscription]] = {}
    for subscription in subscriptions:
        apart.setdefault(subscription.compiled.key, []).append(subscription)
    found: list[Found] = []
    failures: dict[int, TapestryError] = {}
    for alike in apart.values():
        try:
            found += run(alike)
        except TapestryError as error:
            failures |= {subscription.fid: error for subscription in alike}
    return found, failures


class _Words:
    """Says in words which disjunct of its filter a message meets, each worked out once."""

    def __init__(self, subscriptions: Sequence[Subscription]) -> None:
        self._compiled = {s.fid: s.compiled for s in subscriptions}
        self._words: dict[tuple[int, int], str] = {}

    def __call__(self, fid: int, disjunct: int) -> str:
        key = (fid, disjunct)
        if key not in self._words:
            self._words[key] = disjunct_in_words(self._compiled[fid], disjunct)
        return self._words[key]


@lru_cache(maxsize=10_000)
def _compiled(text: str, owner: str, addresses: tuple[str, ...], rule: Rule) -> Compiled:
    return compile_filter(text, Context(owner, addresses), rule)
