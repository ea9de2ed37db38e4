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


def next_try(
    now: int,
    first_tried: int,
    failures: int,
    *,
    retry_after: float | None = None,
    seed: str | None = None,
) -> int | None:
    """Return the instant of the next try, or None three days after the first.

    ``failures`` in a row, this one included, began at ``first_tried``.  The pause is at least
    ``retry_after`` seconds, where the other side named them (RFC 9110 section 10.2.3).  The last
    try is three days after the first at the latest, whatever the other side asks for.  The same
    ``seed`` draws the same pause.

    >>> next_try(now=5, first_tried=5, failures=1, retry_after=40.0)
    40000005
    >>> next_try(now=5 + GIVE_UP, first_tried=5, failures=30) is None
    True
    """
    last = first_tried + GIVE_UP
    if now >= last:
        return None
    pause = random.Random(seed).uniform(0.0, pause_after(failures, FIRST, LONGEST))
    seconds = max(pause, retry_after or 0.0)
    return min(last, now + round(min(seconds, GIVE_UP / SECOND) * SECOND))
