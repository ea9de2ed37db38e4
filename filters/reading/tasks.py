"""What the worker does: append what people said of messages."""

from __future__ import annotations

from filters.reading.annotations.outbox import append_outbox
from filters.site.work.parts import services
from filters.site.work.queues.queue import TICK, run_soon, send
from tapestry.celery import app
from tapestry.tables.write.compact import compact_small_files


@app.task(name="filters.append_annotations", ignore_result=True)
def append_annotations() -> None:
    tables = services.tables()
    if append_outbox(tables):
        run_soon(TICK)
    compact_small_files(tables)


def append_soon() -> bool:
    """Ask the worker to append what waits; return False if the queue cannot be reached.

    Nothing is lost then: what waits is in the database, and the next run appends it.
    """
    return send(append_annotations, (), otherwise="What waits will be appended by the next run")
