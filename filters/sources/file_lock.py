"""One process at a time: locks on files, one for each source and each thing done with it."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from filters.models.source import Source
from filters.runtime import services

TURN = 0.1


@contextmanager
def alone(source: Source, doing: str, wait: float = 0.0) -> Iterator[bool]:
    """Yield whether nobody else on this machine does that with the source, by so many seconds.

    A killed process lets its lock go.
    """
    path = services.data() / "run" / f"{doing}-{source.pk}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + wait
    with path.open("w") as file:
        while not _locked(file):
            if time.monotonic() >= until:
                yield False
                return
            time.sleep(TURN)
        yield True


def _locked(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
