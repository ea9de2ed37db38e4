"""A polite rate: what a server is asked for in a second, after a first handful."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class TokenBucket:
    """Let ``burst`` go at once, then ``per_second`` in every second."""

    per_second: float
    burst: int = 100
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _spent: float = field(default=0.0, init=False)
    _at: float | None = field(default=None, init=False)

    def acquire(self) -> None:
        """Wait until one more may be asked for."""
        now = self.clock()
        if self._at is not None:
            self._spent = max(0.0, self._spent - (now - self._at) * self.per_second)
        self._at = now
        self._spent += 1
        if self._spent > self.burst:
            self.sleep((self._spent - self.burst) / self.per_second)
