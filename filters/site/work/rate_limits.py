"""Rate limits, against brute force and floods: counted in Redis, else in this process.

Each limit holds in a moving window: not only from one full five minutes to the next.

A try is counted before it is made, in one atomic step for each count.  So tries at the same moment
never exceed a limit together.  A try that does not count after all is given back.

While Redis cannot be reached, each process counts for itself; Redis is asked again soon.  The keys
are keyed hashes: Redis has neither names nor addresses.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeVar

import redis
from django.utils.crypto import salted_hmac
from limits import RateLimitItem
from limits.storage import MemoryStorage, RedisStorage
from limits.strategies import MovingWindowRateLimiter
from redis.backoff import NoBackoff
from redis.retry import Retry

from filters.site.work.parts import services

log = logging.getLogger(__name__)

T = TypeVar("T")

PATIENCE = 0.5
"""Seconds that Redis has to answer."""

AGAIN = 5.0
"""Seconds until Redis is asked again, after it could not be reached."""


def digest(*parts: str) -> str:
    """Return what stands for a name, an address or both where they are kept."""
    return salted_hmac(__name__, "\0".join(parts)).hexdigest()


@dataclass(frozen=True, slots=True)
class Count:
    """One count: why it refuses, its limit, and the digest of what it counts."""

    reason: str
    limit: RateLimitItem
    key: str


class TooManyTriesError(Exception):
    """A limit is reached; ``reason`` names it, and after ``seconds`` there may be another try."""

    def __init__(self, reason: str, seconds: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.seconds = seconds


def reserve(counts: Sequence[Count]) -> Callable[[], None]:
    """Count a try in all counts, and return what gives it back: it was no failure.

    Raise TooManyTriesError, and count it nowhere, if a limit is reached.
    """
    return _counted(lambda storage: _reserve(storage, counts))


def is_used(count: Count) -> bool:
    """Tell whether anything stands in a count now."""
    return _counted(lambda storage: _is_used(storage, count))


class _RedisCounts(RedisStorage):
    """Counts in Redis: a list of instants for each key, the newest first."""

    def __init__(self, url: str) -> None:
        """Make the client; it connects when it is used.

        It tries once more, at once: an open connection may be to a Redis that was restarted.
        """
        pool = redis.ConnectionPool.from_url(
            url,
            socket_connect_timeout=PATIENCE,
            socket_timeout=PATIENCE,
            retry=Retry(NoBackoff(), 1),
        )
        super().__init__(url, connection_pool=pool, key_prefix="tapestry")
        self.client = redis.Redis(connection_pool=pool)

    def give_back(self, key: str) -> None:
        self.client.lpop(self.prefixed_key(key))


class _ProcessCounts(MemoryStorage):
    """Counts in this process, under one lock."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        with self.lock:
            return super().acquire_entry(key, limit, expiry, amount)

    def give_back(self, key: str) -> None:
        with self.lock:
            del self.events.get(key, [])[:1]


def _counted(use: Callable[[_RedisCounts | _ProcessCounts], T]) -> T:
    """Return what is made of the counts in Redis, or of those in this process without it."""
    storage = _redis_storage()
    if storage is not None:
        try:
            return use(storage)
        except (redis.RedisError, OSError) as error:
            _away(error)
    return use(_memory())


def _reserve(storage: _RedisCounts | _ProcessCounts, counts: Sequence[Count]) -> Callable[[], None]:
    windows = MovingWindowRateLimiter(storage)
    taken: list[Count] = []

    def give_back() -> None:
        try:
            for count in taken:
                storage.give_back(count.limit.key_for(count.key))
        except redis.RedisError as error:
            _away(error)

    for count in counts:
        if not windows.hit(count.limit, count.key):
            give_back()
            full = [other for other in counts if not windows.test(other.limit, other.key)]
            seconds = max(_seconds(windows, passed) for passed in full or [count])
            raise TooManyTriesError(count.reason, seconds)
        taken.append(count)
    return give_back


def _is_used(storage: _RedisCounts | _ProcessCounts, count: Count) -> bool:
    _, left = MovingWindowRateLimiter(storage).get_window_stats(count.limit, count.key)
    return left < count.limit.amount


def _seconds(windows: MovingWindowRateLimiter, count: Count) -> int:
    """Return the seconds until a full count has room again."""
    free_at, _ = windows.get_window_stats(count.limit, count.key)
    return max(1, min(math.ceil(free_at - time.time()), count.limit.get_expiry()))


class _Availability:
    """When Redis is asked again, in seconds of the monotonic clock."""

    ask_at = -math.inf


_availability = _Availability()


def _away(error: Exception) -> None:
    _availability.ask_at = time.monotonic() + AGAIN
    log.warning("what is limited is counted in this process alone: %s", error)


def _redis_storage() -> _RedisCounts | None:
    if time.monotonic() < _availability.ask_at:
        return None
    try:
        return _redis(services.redis_url())
    except ValueError as error:
        _away(error)
        return None


@lru_cache(maxsize=1)
def _redis(url: str) -> _RedisCounts:
    return _RedisCounts(url)


@cache
def _memory() -> _ProcessCounts:
    return _ProcessCounts()
