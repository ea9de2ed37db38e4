"""Leases: a claim ends with the process that holds it (a lock of the site).

Each process holds a lock of its own as long as it lives (its place:
filters.site.work.parts.services), which is released however the process ends.  So the claims
of a killed worker are free at once, and those of a slow one are not.
"""

from __future__ import annotations

import itertools
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from filters.site.work.parts import services
from tapestry.core.files.site_lock import is_site_lock_held, shared_site_lock

_held: dict[tuple[Path, int], str] = {}
"""The names of this process, by data directory and process."""

_locks = ExitStack()
_numbers = itertools.count(1)

_active: set[str] = set()
"""The claims that this process is at."""

OLD = 3600.0
"""Seconds after which the file of an ended process is deleted; a young one may be unlocked yet."""


@contextmanager
def claiming() -> Iterator[str]:
    """Yield a name for claims of this process; it is theirs for the length of the block."""
    name = f"{process_name()}:{next(_numbers)}"
    _active.add(name)
    try:
        yield name
    finally:
        _active.discard(name)


def process_name() -> str:
    """Return the name of this process, whose lock it holds from now on."""
    directory = _directory()
    key = (directory, os.getpid())
    if key not in _held:
        name = uuid.uuid4().hex
        _locks.enter_context(shared_site_lock(directory / f"{name}.lock"))
        _held[key] = name
    return _held[key]


def is_alive(claim: str) -> bool:
    """Tell whether the process that made a claim lives; of this process, whether it is at it."""
    process = claim.partition(":")[0]
    if process == process_name():
        return claim in _active
    return is_site_lock_held(_directory() / f"{process}.lock")


def remove_ended() -> None:
    """Delete the files of processes that ended long ago."""
    for path in _directory().glob("*.lock"):
        with suppress(FileNotFoundError):  # another process deletes them too
            if path.stat().st_mtime < time.time() - OLD and not is_site_lock_held(path):
                path.unlink()


def _directory() -> Path:
    return services.data() / "run" / "deliveries"
