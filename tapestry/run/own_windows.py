"""Run filters that are not enrolled in the shared window, each over a window of its own.

A window begins where the filter's last one ended (its watermark, the checkpoint of its progress);
filters of one signature still share a plan, whatever their windows.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TypeVar

from tapestry.core.damage import DamagedFileError
from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.core.ports import Change, DueFilter, FilterStore, Match
from tapestry.plan.compile import compile_due
from tapestry.plan.engine import Engine, TooManyError, TooSlowError
from tapestry.plan.explanation import explanation
from tapestry.run.changes import change_windows
from tapestry.run.execute import Subscription, execute
from tapestry.run.limits import run_isolated
from tapestry.run.suspects import require_blame
from tapestry.tables.delta.log import Snapshot, Tables, snapshot

log = logging.getLogger(__name__)

Delivery = TypeVar("Delivery", Match, Change)

_plan = attrgetter("compiled.key")

HALVINGS = 24
"""How often a window is halved at most, before its filter is refused."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a run of filters did.

    The windows of ``filters`` end at the run's ``until`` now, or at their own where they have one.
    Those of ``slow`` filters took too long, and are as before.
    """

    filters: tuple[DueFilter, ...] = ()
    matches: tuple[Match, ...] = ()
    changes: tuple[Change, ...] = ()
    failed: int = 0
    committed: bool = True
    slow: tuple[tuple[DueFilter, TapestryError], ...] = ()

    def followed_by(self, later: Run) -> Run:
        """Return what this run and a later one did."""
        return Run(
            self.filters + later.filters,
            self.matches + later.matches,
            self.changes + later.changes,
            self.failed + later.failed,
            self.committed and later.committed,
            self.slow + later.slow,
        )


def run_own_windows(
    engine_on: Callable[[Snapshot], Engine],
    tables: Tables,
    store: FilterStore,
    due_filters: Sequence[DueFilter],
    until: int,
    seconds: float = math.inf,
    *,
    isolate: bool = True,
) -> Run:
    """Run filters, each over its own window, and store what they found.

    Where a filter finds more than can be had at once, the first part of its window is run.  Where
    all take more than so many seconds, each plan is run by itself if ``isolate``.
    """
    due: dict[int, DueFilter] = {}
    subscriptions: list[Subscription] = []
    failed = 0
    for due_filter in due_filters:
        try:
            subscriptions.append(subscribe(due_filter))
            due[due_filter.filter_id] = due_filter
        except TapestryError as error:
            refuse(store, due_filter, error)
            failed += 1
    if not due:
        return Run(failed=failed)
    engine = engine_on(snapshot(tables))

    def find_matches(subscriptions: Sequence[Subscription]) -> list[Match]:
        with engine.limit(seconds):
            return execute(engine, subscriptions, until, store.known)

    def find_changes(subscriptions: Sequence[Subscription]) -> list[Change]:
        with engine.limit(seconds):
            return change_windows(engine, subscriptions, [until], net=False)[0]

    kept_filters = [s for s in subscriptions if not due[s.filter_id].live]
    live_filters = [s for s in subscriptions if due[s.filter_id].live]
    matches, failures = run_isolated(find_matches, kept_filters, _plan, isolate_slow=isolate)
    changed, live_failures = run_isolated(find_changes, live_filters, _plan, isolate_slow=isolate)
    if failures or live_failures:
        require_blame(engine, {s.filter_id for s, _ in (*failures, *live_failures)})
    partial: list[tuple[DueFilter, int, list[Match]]] = []
    refused: list[tuple[DueFilter, TapestryError]] = []
    slow: list[tuple[DueFilter, TapestryError]] = []
    for subscription, failure in (*live_failures, *failures):
        due_filter = due.pop(subscription.filter_id)
        if isinstance(failure, TooSlowError):
            slow.append((due_filter, failure))
            continue
        if due_filter.live:
            refused.append((due_filter, failure))
            continue
        try:
            end, part = _first_part(find_matches, subscription, until, failure)
            partial.append((replace(due_filter, until=end), end, part))
        except TapestryError as final_error:
            refused.append((due_filter, final_error))
    for due_filter, failure in refused:
        refuse(store, due_filter, failure)
    done = list(due.values())
    matches, changed = explained(matches, done), explained(changed, done)
    committed = store.commit(done, until, matches, changed)
    for due_filter, end, part in partial:
        part = explained(part, [due_filter])
        committed &= store.commit([due_filter], end, part)
        matches += part
        done.append(due_filter)
    failed += len(refused)
    return Run(tuple(done), tuple(matches), tuple(changed), failed, committed, tuple(slow))


def refuse_slow(store: FilterStore, run: Run) -> Run:
    """Store of the slow filters of a run that they cannot be run."""
    for due_filter, error in run.slow:
        refuse(store, due_filter, error)
    return replace(run, failed=run.failed + len(run.slow), slow=())


def subscribe(due_filter: DueFilter) -> Subscription:
    """Return a filter as a run takes it; raises TapestryError if it does not compile."""
    return Subscription(
        due_filter.filter_id,
        compile_due(due_filter),
        due_filter.audiences,
        due_filter.since,
        due_filter.start,
        due_filter.until,
    )


def refuse(store: FilterStore, due_filter: DueFilter, error: TapestryError) -> None:
    """Store that a filter cannot be run, for its owner to see, and log it.

    An error in the text quotes the text, which is its owner's alone: the log says only that
    there is one.  A damaged file is no fault of the filter: that error is raised.
    """
    if isinstance(error, DamagedFileError):
        raise error
    store.fail(due_filter, error.message)
    in_text = error.span is not None or error.text is not None
    message = "Its text does not compile." if in_text else error.message
    event(log, "refused", filter_id=due_filter.filter_id, error=message)


def _first_part(
    run: Callable[[Sequence[Subscription]], list[Match]],
    subscription: Subscription,
    until: int,
    error: TapestryError,
) -> tuple[int, list[Match]]:
    """Run the first part of a window with too many matches; return its end, and its matches.

    Raises the error if there are too many in an instant, or if something else failed.
    """
    until = until if subscription.until is None else subscription.until
    for _ in range(HALVINGS):
        if not isinstance(error, TooManyError):
            break
        end = error.shorter(subscription.since, until)
        if end is None:
            break
        try:
            return end, run([replace(subscription, until=end)])
        except TapestryError as next_error:
            error, until = next_error, end
    raise error


def explained(deliveries: Iterable[Delivery], filters: Iterable[DueFilter]) -> list[Delivery]:
    """Return matches or changes, each with the disjunct in words that its message meets."""
    by_id = {due_filter.filter_id: due_filter for due_filter in filters}
    return [
        delivery
        if isinstance(delivery, Change) and delivery.op == "delete"
        else replace(
            delivery, explanation=explanation(by_id[delivery.filter_id], delivery.disjunct)
        )
        for delivery in deliveries
    ]
