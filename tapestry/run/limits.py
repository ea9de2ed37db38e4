"""Limits of a run, and who is over them: one filter must not delay or lose the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from tapestry.core.errors import TapestryError
from tapestry.plan.engine import TooMuchError

Asked = TypeVar("Asked")
Found = TypeVar("Found")


def set_aside(
    run: Callable[[Sequence[Asked]], list[Found]], asked: Sequence[Asked]
) -> tuple[list[Found], list[tuple[Asked, TapestryError]]]:
    """Run all of some that share a plan; return what they found, and who cannot be run.

    Where it is too much for all, halves are tried, down to who alone is too much.  Any other
    failure is that of the plan, and so of all.

    >>> def run(asked):
    ...     if 3 in asked:
    ...         raise TooMuchError("Too much.")
    ...     return list(asked)
    >>> found, over = set_aside(run, [1, 2, 3, 4])
    >>> found, [one for one, _ in over]
    ([1, 2, 4], [3])
    """
    if not asked:
        return [], []
    try:
        return run(asked), []
    except TooMuchError as error:
        if len(asked) == 1:
            return [], [(asked[0], error)]
    except TapestryError as error:
        return [], [(one, error) for one in asked]
    middle = len(asked) // 2
    found, over = set_aside(run, asked[:middle])
    more, others = set_aside(run, asked[middle:])
    return found + more, over + others
