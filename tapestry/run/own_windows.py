"""Run filters that are not enrolled in the shared window, each over a window of its own.

A window begins where the filter's last one ended (its watermark); filters of one signature still
share a plan, whatever their windows.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.core.ports import Change, DueFilter, FilterStore, Match
from tapestry.plan.compile import compile_due
from tapestry.plan.engine import Engine, TooManyError, check_engine
from tapestry.plan.explanation import explanation
from tapestry.run.changes import changes
from tapestry.run.execute import Subscription, execute
from tapestry.run.limits import set_aside
from tapestry.tables.log import Snapshot, Tables, snapshot

log = logging.getLogger(__name__)

Delivery = TypeVar("Delivery", Match, Change)

HALVINGS = 24
"""How often a window is halved at most before a filter is taken to find too much in any."""


@dataclass(frozen=True, slots=True)
class Run:
    """What running some filters did.

    The windows of ``filters`` end at the run's ``until`` now, or at their own where they have one.
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
    due_filters: Sequence[DueFilter],
    until: int,
) -> Run:
    """Run filters, each over its own window, and store what they found.

    Where one finds more than can be had at once, the first part of its window is run.
    """
    due: list[DueFilter] = []
    subscriptions: list[Subscription] = []
    failed = 0
    for due_filter in due_filters:
        try:
            subscriptions.append(subscribe(due_filter))
            due.append(due_filter)
        except TapestryError as error:
            refuse(store, due_filter, error)
            failed += 1
    if not due:
        return Run((), (), (), failed, True)
    engine = engine_on(snapshot(tables))
    live = {due_filter.filter_id for due_filter in due if due_filter.live}

    def find_matches(some: Sequence[Subscription]) -> list[Match]:
        return execute(engine, some, until, store.known)

    def find_changes(some: Sequence[Subscription]) -> list[Change]:
        return changes(engine, some, until, net=False)

    kept_filters = [s for s in subscriptions if s.filter_id not in live]
    live_filters = [s for s in subscriptions if s.filter_id in live]
    matches, errors = _run_isolated(find_matches, kept_filters)
    changed, live_errors = _run_isolated(find_changes, live_filters)
    errors |= live_errors
    if errors:
        check_engine(engine)
    complete = [due_filter for due_filter in due if due_filter.filter_id not in errors]
    partial: list[tuple[DueFilter, int, list[Match]]] = []
    for due_filter, subscription in zip(due, subscriptions, strict=True):
        if due_filter.filter_id not in errors:
            continue
        try:
            if due_filter.live:
                raise errors[due_filter.filter_id]
            end, found = _first_part(
                find_matches, subscription, until, errors[due_filter.filter_id]
            )
            partial.append((replace(due_filter, until=end), end, found))
        except TapestryError as error:
            refuse(store, due_filter, error)
            failed += 1
    by_id = {due_filter.filter_id: due_filter for due_filter in due}
    changed = [
        change
        if change.op == "delete"
        else replace(change, explanation=explanation(by_id[change.filter_id], change.disjunct))
        for change in changed
    ]
    matches = explained(matches, due)
    committed = store.commit(complete, until, matches, changed)
    for due_filter, end, found in partial:
        explained_part = explained(found, [due_filter])
        committed &= store.commit([due_filter], end, explained_part)
        matches += explained_part
    done = (*complete, *(due_filter for due_filter, _, _ in partial))
    return Run(done, tuple(matches), tuple(changed), failed, committed)


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
    there is one.
    """
    store.fail(due_filter, error.message)
    in_text = error.span is not None or error.text is not None
    message = "Its text does not compile." if in_text else error.message
    event(log, "refused", filter_id=due_filter.filter_id, error=message)


def _run_isolated(
    run: Callable[[Sequence[Subscription]], list[Delivery]], subscriptions: Sequence[Subscription]
) -> tuple[list[Delivery], dict[int, TapestryError]]:
    """Run all filters at once; where that fails, each signature by itself.

    So no filter keeps the others from running.  Errors come by filter_id.
    """
    try:
        return (run(subscriptions) if subscriptions else []), {}
    except TapestryError as error:
        log.warning("Not all at once: %s", error.message)
    by_signature: dict[str, list[Subscription]] = {}
    for subscription in subscriptions:
        by_signature.setdefault(subscription.compiled.key, []).append(subscription)
    deliveries: list[Delivery] = []
    errors: dict[int, TapestryError] = {}
    for same_plan in by_signature.values():
        delivered, failures = set_aside(run, same_plan)
        deliveries += delivered
        errors |= {subscription.filter_id: error for subscription, error in failures}
    return deliveries, errors


def _first_part(
    run: Callable[[Sequence[Subscription]], list[Match]],
    subscription: Subscription,
    until: int,
    error: TapestryError,
) -> tuple[int, list[Match]]:
    """Run the first part of a window in which there is too much; return its end, and its matches.

    Raises the error if there are too many in an instant, or something else is the matter.
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
