"""Limits of a run, and which filters are over them: no filter may delay or lose the others."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TypeVar

from tapestry.core.damage import DamagedFileError
from tapestry.core.errors import TapestryError
from tapestry.plan.engine import TooMuchError, TooSlowError

log = logging.getLogger(__name__)

Item = TypeVar("Item")
Result = TypeVar("Result")


def run_isolated(
    run: Callable[[Sequence[Item]], list[Result]],
    items: Sequence[Item],
    plan: Callable[[Item], str],
    *,
    isolate_slow: bool = True,
) -> tuple[list[Result], list[tuple[Item, TapestryError]]]:
    """Run all items at once; where that fails, those of each plan by themselves.

    Return the results, and the items that cannot be run: they do not keep others from running.
    Unless ``isolate_slow``, all cannot be run where all at once take too long.
    """
    by_plan: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        by_plan[plan(item)].append(item)
    try:
        return (run(items) if items else []), []
    except DamagedFileError:
        raise  # no filter is to blame
    except TapestryError as error:
        if isinstance(error, TooSlowError) and (len(by_plan) == 1 or not isolate_slow):
            return [], [(item, error) for item in items]
        log.warning("Not all at once: %s", error.message)
    outcomes = [set_aside(run, same_plan) for same_plan in by_plan.values()]
    results = [result for of_plan, _ in outcomes for result in of_plan]
    return results, [failure for _, of_plan in outcomes for failure in of_plan]


def set_aside(
    run: Callable[[Sequence[Item]], list[Result]], items: Sequence[Item]
) -> tuple[list[Result], list[tuple[Item, TapestryError]]]:
    """Run items that share a plan; return the results, and the items that cannot be run.

    Where it is too much for all, halves are tried, down to the single item that is too much.
    Any other failure is that of the plan, and so of all items; so is a plan that takes too long.

    >>> def run(items):
    ...     if 3 in items:
    ...         raise TooMuchError("Too much.")
    ...     return list(items)
    >>> results, failures = set_aside(run, [1, 2, 3, 4])
    >>> results, [item for item, _ in failures]
    ([1, 2, 4], [3])
    """
    try:
        return run(items), []
    except TooSlowError as error:
        return [], [(item, error) for item in items]
    except TooMuchError as error:
        if len(items) == 1:
            return [], [(items[0], error)]
    except DamagedFileError:
        raise
    except TapestryError as error:
        return [], [(item, error) for item in items]
    middle = len(items) // 2
    results, failures = set_aside(run, items[:middle])
    more_results, more_failures = set_aside(run, items[middle:])
    return results + more_results, failures + more_failures
