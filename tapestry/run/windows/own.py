"""Run filters that are not enrolled in the shared window, each over a window of its own.

A window begins where the filter's last one ended (its watermark, the checkpoint of its progress);
filters of one signature still share a plan, whatever their windows.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import attrgetter
from typing import TypeVar

from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.core.ports import Change, DueFilter, FilterStore, Match
from tapestry.core.surroundings import is_of_surroundings, is_unforeseen
from tapestry.plan.compile import compile_due
from tapestry.plan.engine import TooManyError, TooSlowError
from tapestry.plan.explanation import explanation
from tapestry.run.changes import change_windows
from tapestry.run.execute import Subscription, execute
from tapestry.run.limits.faulty_mail import leave_faulty_mail
from tapestry.run.limits.isolation import isolate, run_isolated
from tapestry.run.limits.suspects import newest, open_engine, require_blame
from tapestry.run.resources import Resources

Delivery = TypeVar("Delivery", Match, Change)

_plan = attrgetter("compiled.key")

HALVINGS = 24
"""Times that a window is halved at most, before its filter is refused."""


@dataclass(frozen=True, slots=True)
class Run:
    """The outcome of a run of filters.

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


def run_each(
    store: FilterStore, due_filters: Sequence[DueFilter], run: Callable[[Sequence[DueFilter]], Run]
) -> Run:
    """Run filters together; where that raises an error, set aside those alone that raise it."""
    runs, failures = isolate(lambda some: [run(some)], due_filters)
    return reduce(Run.followed_by, runs, refuse_all(store, failures))


def run_own_windows(
    resources: Resources,
    due_filters: Sequence[DueFilter],
    until: int,
    seconds: float = math.inf,
    *,
    isolate_slow: bool = True,
) -> Run:
    """Run filters, each over its own window, and store what they found.

    Where a filter finds more than can be had at once, the first part of its window is run.  Where
    all take more than so many seconds, each plan is run by itself if ``isolate_slow``.
    """
    store, started = resources.store, time.monotonic()
    subscriptions, refused = isolate(lambda some: list(map(subscribe, some)), due_filters)
    due = {due_filter.filter_id: due_filter for due_filter in due_filters}
    subscribed = {s.filter_id for s in subscriptions}
    if not subscribed:
        return refuse_all(store, refused)
    seen = newest(resources.tables)
    engine = open_engine(resources.engine_on, seen)

    def find_matches(subscriptions: Sequence[Subscription]) -> list[Match]:
        with engine.limit(seconds):
            return execute(engine, subscriptions, until, store.known)

    def find_changes(subscriptions: Sequence[Subscription]) -> list[Change]:
        with engine.limit(seconds):
            return change_windows(engine, subscriptions, [until], net=False)[0]

    kept_filters = [s for s in subscriptions if not due[s.filter_id].live]
    live_filters = [s for s in subscriptions if due[s.filter_id].live]
    matches, failures = run_isolated(find_matches, kept_filters, _plan, isolate_slow=isolate_slow)
    changed, live_failures = run_isolated(
        find_changes, live_filters, _plan, isolate_slow=isolate_slow
    )
    if failures or live_failures:
        require_blame(engine, {s.filter_id for s, _ in (*failures, *live_failures)})
    partial: list[tuple[DueFilter, int, list[Match]]] = []
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
        except Exception as final_error:
            refused.append((due_filter, final_error))

    def commit(some: Sequence[DueFilter]) -> list[Run]:
        found = [match for filter_ in some for match in matches_of[filter_.filter_id]]
        changes = [change for filter_ in some for change in changes_of[filter_.filter_id]]
        run = _commit(store, some, until, found, changes)
        if run.committed or len(some) < 2:
            return [run]
        middle = len(some) // 2  # one was changed meanwhile: that costs the others nothing
        return [*commit(some[:middle]), *commit(some[middle:])]

    def commit_part(parts: Sequence[tuple[DueFilter, int, list[Match]]]) -> list[Run]:
        return [_commit(store, [due_filter], end, part) for due_filter, end, part in parts]

    matches_of, changes_of = _by_filter(matches), _by_filter(changed)
    done = [due_filter for key, due_filter in due.items() if key in subscribed]
    runs, uncommitted = isolate(commit, done)
    more, uncommitted_parts = isolate(commit_part, partial)
    refused += uncommitted + [(part[0], error) for part, error in uncommitted_parts]
    run = reduce(Run.followed_by, (*runs, *more), Run(slow=tuple(slow)))

    def attempt(due_filter: DueFilter) -> None:
        found = find_matches([subscribe(due_filter)])
        commit_part([(due_filter, due_filter.end(until), found)])

    def goes_on(due_filter: DueFilter, error: Exception) -> bool:
        """Tell whether a filter that failed before could be run, but for some mail."""
        again = due_filter.set_aside and not due_filter.live and is_unforeseen(error)
        end = due_filter.end(until)
        return again and leave_faulty_mail(attempt, store, seen, due_filter, end)

    left = [refusal for refusal in refused if not goes_on(*refusal)]
    run = run.followed_by(Run(failed=len(refused) - len(left)))
    store.charge(due_filters, time.monotonic() - started)
    return run.followed_by(refuse_all(store, left))


def _commit(
    store: FilterStore,
    filters: Sequence[DueFilter],
    until: int,
    matches: Sequence[Match],
    changes: Sequence[Change] = (),
) -> Run:
    """Store what filters found in their windows, each with its explanation."""
    matches, changes = explained(matches, filters), explained(changes, filters)
    committed = store.commit(filters, until, matches, changes)
    return Run(tuple(filters), tuple(matches), tuple(changes), 0, committed)


def refuse_all(store: FilterStore, refusals: Sequence[tuple[DueFilter, Exception]]) -> Run:
    """Refuse filters, each for its error; return the run that they failed in."""
    for due_filter, error in refusals:
        refuse(store, due_filter, error)
    return Run(failed=len(refusals))


def _by_filter(found: Iterable[Delivery]) -> dict[int, list[Delivery]]:
    by_filter: dict[int, list[Delivery]] = defaultdict(list)
    for delivery in found:
        by_filter[delivery.filter_id].append(delivery)
    return by_filter


def refuse_slow(store: FilterStore, run: Run) -> Run:
    """Store of the slow filters of a run that they cannot be run."""
    return replace(run, slow=()).followed_by(refuse_all(store, run.slow))


def subscribe(due_filter: DueFilter) -> Subscription:
    """Return a filter as a run takes it; raises TapestryError if it does not compile."""
    return Subscription(
        due_filter.filter_id,
        compile_due(due_filter),
        due_filter.audiences,
        due_filter.since,
        due_filter.start,
        due_filter.until,
        due_filter.completeness,
    )


def refuse(store: FilterStore, due_filter: DueFilter, error: Exception) -> None:
    """Store that a filter cannot be run, for its owner to see, and log it.

    An error in the text quotes the text, which is its owner's alone: the log says only that
    there is one.  That text was read when it was stored: it is tried again by another version.
    A fault of the surroundings is none of the filter: that error is raised.  What nobody foresaw
    is tried again later.
    """
    if is_of_surroundings(error):
        raise error
    if is_unforeseen(error) or not isinstance(error, TapestryError):
        store.set_aside(due_filter, error)
        return
    message = error.message
    if error.span is not None or error.text is not None:
        message = "Its text does not compile."
        store.set_aside(due_filter, TapestryError(f"{message} Save it again to see where."))
    else:
        store.fail(due_filter, message)
    event("refused", filter_id=due_filter.filter_id, error=message)


def _first_part(
    run: Callable[[Sequence[Subscription]], list[Match]],
    subscription: Subscription,
    until: int,
    error: Exception,
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
