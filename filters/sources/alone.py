"""One process at a time: locks on files, one for each source and each thing done with it."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from filters import parts
from filters.models_source import Source


@contextmanager
def alone(source: Source, doing: str, *, wait: bool = False) -> Iterator[bool]:
    """Yield whether nobody else on this machine does that with the source; ``wait`` until so.

    A killed process lets its lock go.
    """
    path = parts.data() / "run" / f"{doing}-{source.pk}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        yield True
