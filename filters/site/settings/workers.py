"""TAPESTRY_WORKERS: the worker processes, and which lanes share one."""

from __future__ import annotations

from tapestry.core.errors import TapestryError

LISTENER = "listener"
"""The lane that has no queue: it listens to mailboxes (filters.sources.pull.listening)."""

WEB, IMAP, WORKER, BEAT = "web", "imap", "worker", "beat"
PARTS = (WEB, WORKER, LISTENER, BEAT, IMAP)
"""The kinds of parts that may be on several machines."""

THREADS = {"shared": 1, "own": 3, "previews": 3, "sources": 5, "mail": 2, "outbound": 8}
"""The threads of a lane in a process, by its queue."""

LANES = (*THREADS, LISTENER)
TOGETHER = "shared own+previews sources+listener mail+outbound mail"
"""What runs statements, what takes mail in and what delivers it are apart, for a process may be
killed for its memory.  Mail has two: to write digests needs every core."""

Workers = tuple[tuple[str, ...], ...]


def read_workers(text: str) -> Workers:
    """Return the lanes of each worker process; raise TapestryError for a lane too few or unknown.

    >>> read_workers("")[-2:]
    (('mail', 'outbound'), ('mail',))
    """
    workers = tuple(tuple(word.split("+")) for word in (text.strip() or TOGETHER).split())
    named = {lane for lanes in workers for lane in lanes}
    if wrong := sorted(named ^ set(LANES)):
        raise TapestryError(
            f"TAPESTRY_WORKERS names “{wrong[0]}”, which is no lane."
            if wrong[0] in named
            else f"TAPESTRY_WORKERS leaves out the lane “{wrong[0]}”.",
            hint=f"Write each lane once or more, with + between those of a process: {TOGETHER}",
        )
    return workers
