"""Find who is to blame where a run of many fails: no filter may delay or lose the others.

all at once ─ fails ─> each plan, or halves ─> … ─> the one that fails alone
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from tapestry.core.errors import TapestryError
from tapestry.core.surroundings import is_of_surroundings, is_unforeseen
from tapestry.plan.engine import PlanFailedError, TooMuchError, TooSlowError

log = logging.getLogger(__name__)

MOST_SLOW = 3
"""Plans that take too long by themselves until no other is tried."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def run_isolated(
    run: Callable[[Sequence[Item]], list[Result]],
    items: Sequence[Item],
    plan: Callable[[Item], str],
    *,
    isolate_slow: bool = True,
) -> tuple[list[Result], list[tuple[Item, Exception]]]:
    """Run all items at once; where that fails, those of each plan by themselves, or halves.

    Return the results, and the items that cannot be run: they do not keep others from running.
    Unless ``isolate_slow``, all cannot be run where all at once take too long.
    """
    try:
        return (run(items) if items else []), []
    except Exception as error:
        if is_of_surroundings(error):
            raise
        by_plan = _by_plan(items, plan)
        if isinstance(error, TooSlowError) and (len(by_plan) == 1 or not isolate_slow):
            return [], [(item, error) for item in items]
        log.warning("Not all at once: %s", _name(error))
        if not isinstance(error, TapestryError):
            alike = [item for same_plan in by_plan for item in same_plan]
            if len(alike) == 1:
                return [], [(alike[0], error)]
            again = partial(run_isolated, plan=plan, isolate_slow=isolate_slow)
            return _halves(again, alike, run)
    return _joined(run_alike(run, same_plan) for same_plan in by_plan)


def run_alike(
    run: Callable[[Sequence[Item]], list[Result]], items: Sequence[Item]
) -> tuple[list[Result], list[tuple[Item, Exception]]]:
    """Run items that share a plan; return the results, and the items that cannot be run.

    Where it is too much for all, or an error that nobody foresaw, halves are tried, down to the
    single item.  Any other failure is that of the plan, and so of all items; so is a plan that
    takes too long.

    >>> def run(items):
    ...     if 3 in items:
    ...         raise TooMuchError("Too much.")
    ...     return list(items)
    >>> results, failures = run_alike(run, [1, 2, 3, 4])
    >>> results, [item for item, _ in failures]
    ([1, 2, 4], [3])
    """
    try:
        return run(items), []
    except Exception as error:
        if is_of_surroundings(error):
            raise
        foreseen = not isinstance(error, TooMuchError) and not is_unforeseen(error)
        if len(items) == 1 or foreseen or isinstance(error, TooSlowError | PlanFailedError):
            return [], [(item, error) for item in items]
    return _halves(run_alike, items, run)


def isolate(
    run: Callable[[Sequence[Item]], list[Result]],
    items: Sequence[Item],
    plan: Callable[[Item], Hashable] = lambda item: None,
) -> tuple[list[Result], list[tuple[Item, Exception]]]:
    """Run items at once; where that raises an error, halves, down to the items that raise it.

    Return the results, and those items with their errors.  Where it takes too long, those of each
    plan are run by themselves, and none of a plan that takes too long has results; nor have those
    that are left after ``MOST_SLOW`` such plans, for the engine may be to blame.
    What a half has done before it failed is done again, or found done.

    >>> results, failures = isolate(lambda items: [6 // item for item in items], [1, 0, 3])
    >>> results, failures
    ([6, 2], [(0, ZeroDivisionError('integer division or modulo by zero'))])
    """
    if not items:
        return [], []
    try:
        return run(items), []
    except Exception as error:
        if is_of_surroundings(error):
            raise
        if len(items) == 1:
            return [], [(items[0], error)]
        if isinstance(error, TooSlowError):
            by_plan = _by_plan(items, plan)
            if len(by_plan) == 1:
                return [], [(item, error) for item in items]
            return _joined(_slow_apart(run, by_plan, error))
    return _halves(partial(isolate, plan=plan), items, run)


def _slow_apart(
    run: Callable[[Sequence[Item]], list[Result]],
    by_plan: Sequence[Sequence[Item]],
    error: Exception,
) -> Iterator[tuple[list[Result], list[tuple[Item, Exception]]]]:
    """Run those of each plan by themselves, until so many plans have taken too long."""
    slow = 0
    for alike in by_plan:
        if slow == MOST_SLOW:
            yield [], [(item, error) for item in alike]
            continue
        results, failures = isolate(run, alike)
        slow += any(isinstance(failure, TooSlowError) for _, failure in failures)
        yield results, failures


def _by_plan(items: Sequence[Item], plan: Callable[[Item], Hashable]) -> list[list[Item]]:
    """Return the items of each plan; one whose plan cannot be told is by itself."""
    by_plan: dict[Hashable, list[Item]] = defaultdict(list)
    for item in items:
        try:
            key = plan(item)
        except Exception as error:
            if is_of_surroundings(error):
                raise
            key = object()
        by_plan[key].append(item)
    return list(by_plan.values())


def _halves(
    again: Callable[..., tuple[list[Result], list[tuple[Item, Exception]]]],
    items: Sequence[Item],
    run: Callable[[Sequence[Item]], list[Result]],
) -> tuple[list[Result], list[tuple[Item, Exception]]]:
    middle = len(items) // 2
    if not middle:
        return again(run, items)
    return _joined(again(run, half) for half in (items[:middle], items[middle:]))


def _joined(
    outcomes: Iterable[tuple[list[Result], list[tuple[Item, Exception]]]],
) -> tuple[list[Result], list[tuple[Item, Exception]]]:
    joined: tuple[list[Result], list[tuple[Item, Exception]]] = [], []
    for results, failures in outcomes:
        joined[0].extend(results)
        joined[1].extend(failures)
    return joined


def _name(error: Exception) -> str:
    """Return what the log says of an error: others than ours may quote what is nobody's."""
    return error.message if isinstance(error, TapestryError) else type(error).__name__
