"""Run filters that stand apart, each over its own window.

A window begins where the filter's last one ended; filters of one signature still share a
plan, whatever their windows.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

from tapestry.core.errors import TapestryError
from tapestry.core.ports import Change, DueFilter, FilterStore, Match
from tapestry.plan.compile import Compiled, compile_filter
from tapestry.plan.words import disjunct_in_words
from tapestry.query.context import Context
from tapestry.rewrite.pipeline import Rule
from tapestry.run.answer import Engine, must_answer
from tapestry.run.changes import changes
from tapestry.run.execute import Subscription, execute
from tapestry.run.limits import set_aside
from tapestry.tables.log import Snapshot, Tables, snapshot

log = logging.getLogger(__name__)

Found = TypeVar("Found", Match, Change)


@dataclass(frozen=True, slots=True)
class Run:
    """What running some filters did; ``filters`` are those that now stand at ``until``."""

    filters: tuple[DueFilter, ...]
    matches: tuple[Match, ...]
    changes: tuple[Change, ...]
    failed: int
    committed: bool


def run_apart(
    engine_on: Callable[[Snapshot], Engine],
    tables: Tables,
    store: FilterStore,
    wanted: Sequence[DueFilter],
    until: int,
) -> Run:
    """Run some filters, each over its window, and store what they found."""
    due: list[DueFilter] = []
    subscriptions: list[Subscription] = []
    failed = 0
    for one in wanted:
        try:
            rule: Rule = "general" if one.live else "fast"
            plan = compiled(one.text, one.owner, one.addresses, rule)
        except TapestryError as error:
            store.fail(one, error.message)
            failed += 1
            continue
        due.append(one)
        subscriptions.append(
            Subscription(one.id, plan, one.audiences, one.since, one.start, one.until)
        )
    if not due:
        return Run((), (), (), failed, True)
    engine = engine_on(snapshot(tables))
    live = {one.id for one in due if one.live}

    def keep(some: Sequence[Subscription]) -> list[Match]:
        return execute(engine, some, until, store.known)

    def follow(some: Sequence[Subscription]) -> list[Change]:
        return changes(engine, some, until, net=False)

    matches, failures = _together(keep, [s for s in subscriptions if s.fid not in live])
    changed, more = _together(follow, [s for s in subscriptions if s.fid in live])
    failures |= more
    if failures:
        must_answer(engine)
    for one in due:
        if one.id in failures:
            store.fail(one, failures[one.id].message)
    due = [one for one in due if one.id not in failures]
    in_words = Words(due)
    matches = [replace(m, reason=in_words(m.filter, m.disjunct)) for m in matches]
    changed = [
        c if c.op == "delete" else replace(c, reason=in_words(c.filter, c.disjunct))
        for c in changed
    ]
    committed = store.commit(due, until, matches, changed)
    return Run(tuple(due), tuple(matches), tuple(changed), failed + len(failures), committed)


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
        some, over = set_aside(run, alike)
        found += some
        failures |= {subscription.fid: error for subscription, error in over}
    return found, failures


class Words:
    """Says in words which disjunct of its filter a message meets, each worked out once."""

    def __init__(self, filters: Sequence[DueFilter]) -> None:
        self._filters = {one.id: one for one in filters}
        self._words: dict[tuple[int, int], str] = {}

    def __call__(self, fid: int, disjunct: int) -> str:
        key = (fid, disjunct)
        if key not in self._words:
            one = self._filters[fid]
            rule: Rule = "general" if one.live else "fast"
            plan = compiled(one.text, one.owner, one.addresses, rule)
            self._words[key] = disjunct_in_words(plan, disjunct)
        return self._words[key]


@lru_cache(maxsize=10_000)
def compiled(text: str, owner: str, addresses: tuple[str, ...], rule: Rule) -> Compiled:
    """Return the plans of a filter; those used last are kept."""
    return compile_filter(text, Context(owner, addresses), rule)
