"""Tasks of the worker: pull the sources that are due."""

from __future__ import annotations

import threading

from filters.models.source import Source
from filters.runtime.queue import send
from filters.sources.schedule import due
from tapestry.celery import app

PULLS = threading.BoundedSemaphore(2)
"""Two of the worker's four threads may pull; votes and upkeep have the others."""


@app.task(name="filters.pull_due", ignore_result=True)
def pull_due() -> None:
    for source_id in due():
        pull_source.apply_async((source_id,), expires=60)


@app.task(name="filters.pull_source", ignore_result=True)
def pull_source(source_id: int) -> None:
    """Pull what is new of a source; if too many pulls are running, it stays due."""
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
    """Ask the worker to pull a source; without a queue it is pulled when it is due."""
    send(
        pull_source, (source_id,), otherwise="The source will be pulled when it is due", expires=60
    )
