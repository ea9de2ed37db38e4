"""Times at which a failed delivery is tried again: exponential backoff with full jitter.

Full jitter draws each pause evenly between nothing and the exponential one, so that deliveries
that failed together (their server was down) do not come back together.
"""

from __future__ import annotations

import random

from tapestry.core.backoff import pause_after
from tapestry.core.clock import DAY, HOUR, SECOND

FIRST = 30.0
LONGEST = 6 * HOUR / SECOND
GIVE_UP = 3 * DAY
"""The time for which a delivery is tried, in microseconds, before another way is taken."""

FEWEST = 6
"""As many tries at least, also later: a machine that slept, or whose clock jumped, made fewer."""


def next_try(
    now: int,
    first_tried: int,
    failures: int,
    *,
    retry_after: float | None = None,
    seed: str | None = None,
) -> int | None:
    """Return the instant of the next try, or None three days after the first, of six at least.

    ``failures`` in a row, this one included, began at ``first_tried``.  The pause is at least
    ``retry_after`` seconds, where the other side named them (RFC 9110 section 10.2.3), but for
    three days no longer than until they end.  The same ``seed`` draws the same pause.

    >>> next_try(now=5, first_tried=5, failures=1, retry_after=40.0)
    40000005
    >>> next_try(now=5 + GIVE_UP, first_tried=5, failures=30) is None
    True
    >>> next_try(now=5 + GIVE_UP, first_tried=5, failures=2) is None
    False
    """
    left = first_tried + GIVE_UP - now
    if left <= 0 and failures >= FEWEST:
        return None
    pause = random.Random(seed).uniform(0.0, pause_after(failures, FIRST, LONGEST))
    longest = left if left > 0 else LONGEST * SECOND
    return now + round(min(max(pause, retry_after or 0.0) * SECOND, longest))
