"""Tasks of the workers: pull the sources that are due, and try connections."""

from __future__ import annotations

import threading

from filters.models.source import Source
from filters.runtime.queue import send
from filters.sources import trials
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


@app.task(name="filters.try_source", ignore_result=True, needs_room=False)
def try_source(key: int) -> None:
    """Answer the trial that somebody waits for on a page of sources."""
    from filters.sources import writing

    subjects = {"test": writing.test, "folders": writing.folders, "source": writing.write}
    trials.run(key, lambda owner, question: subjects[question["do"]](owner, question))


def pull_soon(source_id: int) -> None:
    """Ask the worker to pull a source; without a queue it is pulled when it is due."""
    send(
        pull_source, (source_id,), otherwise="The source will be pulled when it is due", expires=60
    )
