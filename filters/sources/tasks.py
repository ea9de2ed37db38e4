"""What the worker does for sources: pull those that are due."""

from __future__ import annotations

import threading

from filters.models.source import Source
from filters.runtime.queue import send
from filters.sources.due import due
from tapestry.celery import app

PULLS = threading.BoundedSemaphore(2)
"""Of the worker's four threads, pulls may hold two: runs and previews have the others."""


@app.task(name="filters.pull_due", ignore_result=True)
def pull_due() -> None:
    """Have those sources pulled that are due."""
    for source_id in due():
        pull_source.apply_async((source_id,), expires=60)


@app.task(name="filters.pull_source", ignore_result=True)
def pull_source(source_id: int) -> None:
    """Pull what is new of a source; where too many are being pulled, it stays due."""
    from filters.sources.pulling import pull

    if not PULLS.acquire(blocking=False):
        return
    try:
        source = Source.objects.filter(pk=source_id, active=True, owner__is_active=True).first()
        if source is not None:
            pull(source)
    finally:
        PULLS.release()


def pull_soon(source_id: int) -> None:
    """Ask the worker to pull a source; where the queue is away, it is pulled when it is due."""
    send(
        pull_source, (source_id,), otherwise="The source will be pulled when it is due", expires=60
    )
