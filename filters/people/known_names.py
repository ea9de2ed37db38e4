"""The names that a person may see, for completion; their reading tells nothing of other rows.

A thread reads them.  Pages have those of the last read, and wait for the first ones a fixed time
after they were asked for; new ones are shown that long after they were asked for, too.  So how
long a read takes, which depends on what others have, cannot be seen.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from tapestry.core.errors import TapestryError
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.recent_names import Names, recent_names

FRESH = 60.0
"""Seconds after which names are read again once somebody asks for them."""

SHOWN_AFTER = 2.0
"""Seconds from the question to the names that it has read; a read takes less.

The first one after a start may not, on a large archive: its names are shown once they are read.
"""

OLD = 600.0
"""Seconds after which names are shown no more: the mail that had them may be forgotten."""

KEPT = 300
"""Reads that are kept in memory, one for each set of audiences."""

sleep = time.sleep


@dataclass(frozen=True, slots=True)
class _Reading:
    """A read, ended or under way, and what is shown until a time of the monotonic clock."""

    names: Future[Names]
    shown_at: float
    before: Names | None


_reader = ThreadPoolExecutor(1, "names")
_lock = threading.Lock()
_readings: dict[tuple[str, ...], _Reading] = {}


def known_names(tables: Tables, audiences: Sequence[str]) -> Names:
    """Return the names that these audiences may see in what is newest, as they were last read.

    There are none where the tables cannot be read, or not in ``SHOWN_AFTER`` seconds.
    """
    reading = begin_reading(tables, audiences)
    if (seconds := reading.shown_at - time.monotonic()) <= 0:
        return _names(reading)
    if reading.before is not None:
        return reading.before
    wait([reading.names], seconds)
    sleep(max(0.0, reading.shown_at - time.monotonic()))
    return _names(reading)


def begin_reading(tables: Tables, audiences: Sequence[str]) -> _Reading:
    """Have the names read, if they are not fresh; return at once."""
    key = (str(tables.root), *audiences)
    with _lock:
        last, now = _readings.get(key), time.monotonic()
        if last is not None and now < last.shown_at + FRESH:
            return last
        _readings.pop(key, None)
        read = _reader.submit(recent_names, tables, tuple(audiences))
        before = None if last is None or now > last.shown_at + OLD else _names(last)
        reading = _Reading(read, now + SHOWN_AFTER, before)
        _readings[key] = reading
        while len(_readings) > KEPT:
            del _readings[next(iter(_readings))]
        return reading


def _names(reading: _Reading) -> Names:
    """Return what a read has found, or what was known before it."""
    if reading.names.done():
        try:
            return reading.names.result()
        except (TapestryError, OSError):
            pass
    return reading.before or Names()
