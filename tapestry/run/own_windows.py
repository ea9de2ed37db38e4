"""Run filters that stand apart, each over its own window.

A window begins where the filter's last one ended; filters of one signature still share a
plan, whatever their windows.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from tapestry.core.errors import TapestryError
from tapestry.core.ports import Change, DueFilter, FilterStore, Match
from tapestry.plan.compile import compile_due
from tapestry.plan.engine import Engine, TooManyError, check_engine
from tapestry.plan.explanation import explanation
from tapestry.run.changes import changes
from tapestry.run.execute import Subscription, execute
from tapestry.run.limits import set_aside
from tapestry.tables.log import Snapshot, Tables, snapshot

log = logging.getLogger(__name__)

Found = TypeVar("Found", Match, Change)

HALVINGS = 24
"""How often a window is halved at most before a filter is taken to find too much in any."""


@dataclass(frozen=True, slots=True)
class Run:
    """What running some filters did.

    ``filters`` stand at ``until`` now, or at their own where they have one.
    """

    filters: tuple[DueFilter, ...]
    matches: tuple[Match, ...]
    changes: tuple[Change, ...]
    failed: int
    committed: bool


def run_own_windows(
    engine_on: Callable[[Snapshot], Engine],
    tables: Tables,
    store: FilterStore,
    wanted: Sequence[DueFilter],
    until: int,
) -> Run:
    """Run some filters, each over its window, and store what they found.

    Where one finds more than can be had at once, the first part of its window is run.
    """
    due: list[DueFilter] = []
    subscriptions: list[Subscription] = []
    failed = 0
    for one in wanted:
        try:
            plan = compile_due(one)
        except TapestryError as error:
            store.fail(one, error.message)
            failed += 1
            continue
        due.append(one)
        subscriptions.append(
            Subscription(one.filter_id, plan, one.audiences, one.since, one.start, one.until)
        )
    if not due:
        return Run((), (), (), failed, True)
    engine = engine_on(snapshot(tables))
    live = {one.filter_id for one in due if one.live}

    def keep(some: Sequence[Subscription]) -> list[Match]:
        return execute(engine, some, until, store.known)

    def follow(some: Sequence[Subscription]) -> list[Change]:
        return changes(engine, some, until, net=False)

    matches, failures = _together(keep, [s for s in subscriptions if s.filter_id not in live])
    changed, more = _together(follow, [s for s in subscriptions if s.filter_id in live])
    failures |= more
    if failures:
        check_engine(engine)
    whole = [one for one in due if one.filter_id not in failures]
    parts: list[tuple[DueFilter, int, list[Match]]] = []
    for one, subscription in zip(due, subscriptions, strict=True):
        if one.filter_id not in failures:
            continue
        try:
            if one.live:
                raise failures[one.filter_id]
            end, found = _first_part(keep, subscription, until, failures[one.filter_id])
            parts.append((replace(one, until=end), end, found))
        except TapestryError as error:
            store.fail(one, error.message)
            failed += 1
    by_id = {due_filter.filter_id: due_filter for due_filter in due}
    changed = [
        c
        if c.op == "delete"
        else replace(c, explanation=explanation(by_id[c.filter_id], c.disjunct))
        for c in changed
    ]
    matches = explained(matches, due)
    committed = store.commit(whole, until, matches, changed)
    for one, end, found in parts:
        reasoned = explained(found, [one])
        committed &= store.commit([one], end, reasoned)
        matches += reasoned
    done = (*whole, *(one for one, _, _ in parts))
    return Run(done, tuple(matches), tuple(changed), failed, committed)


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
        failures |= {subscription.filter_id: error for subscription, error in over}
    return found, failures


def _first_part(
    run: Callable[[Sequence[Subscription]], list[Match]],
    whole: Subscription,
    until: int,
    error: TapestryError,
) -> tuple[int, list[Match]]:
    """Run the first part of a window in which there is too much; return its end, and what it has.

    Raises the error if there are too many in an instant, or something else is the matter.
    """
    until = until if whole.until is None else whole.until
    for _ in range(HALVINGS):
        end = error.shorter(whole.since, until) if isinstance(error, TooManyError) else None
        if end is None:
            break
        try:
            return end, run([replace(whole, until=end)])
        except TapestryError as again:
            error, until = again, end
    raise error


def explained(matches: Iterable[Match], filters: Iterable[DueFilter]) -> list[Match]:
    """Return the matches of some filters, each with the disjunct it meets in words."""
    by_id = {due_filter.filter_id: due_filter for due_filter in filters}
    return [
        replace(match, explanation=explanation(by_id[match.filter_id], match.disjunct))
        for match in matches
    ]
