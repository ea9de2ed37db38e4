"""A token bucket: the rate limit of requests to a server, with a first burst."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class TokenBucket:
    """A bucket of ``burst`` tokens that is filled by ``per_second`` tokens in a second."""

    per_second: float
    burst: int = 100
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _spent: float = field(default=0.0, init=False)
    _at: float | None = field(default=None, init=False)

    def acquire(self) -> None:
        """Take one token; wait until there is one."""
        now = self.clock()
        if self._at is not None:
            self._spent = max(0.0, self._spent - (now - self._at) * self.per_second)
        self._at = now
        self._spent += 1
        if self._spent > self.burst:
            self.sleep((self._spent - self.burst) / self.per_second)
