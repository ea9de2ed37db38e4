"""What a process remembers from one test to the next, forgotten."""

from __future__ import annotations

import math

from filters.people import known_names
from filters.site.work import rate_limits


def forget_names() -> None:
    """Have all names for completion read anew."""
    known_names._readings.clear()


def forget_tries() -> None:
    """Forget the tries that this process has counted, and ask Redis again."""
    rate_limits._redis.cache_clear()
    rate_limits._memory().reset()
    rate_limits._availability.ask_at = -math.inf
