"""Tasks of the workers: release what has come due, and deliver it.

deliver_due ─ release, due destinations ─> deliver(keys), in the queue of their way
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from filters.delivery import claims, mail, samples, sending
from filters.delivery.ways import WAYS
from filters.runtime.batching import batched
from filters.store.release import release
from tapestry.celery import app

DISPATCHED = 1_000
"""Destinations that are handed to the workers in one turn, twice: the oldest and the newest."""

TOGETHER = {"mail": 20, "outbound": 1}
"""Destinations of one task, by queue: what may hang is handed out one by one."""


@app.task(name="filters.deliver_due", ignore_result=True)
def deliver_due() -> None:
    """Release the matches whose time has come, and hand the destinations that are due out."""
    release()
    claims.free_abandoned()
    queues: dict[str, list[int]] = defaultdict(list)
    for key, kind in claims.dispatch(DISPATCHED).items():
        if kind in WAYS:
            queues[WAYS[kind].queue].append(key)
    for queue, keys in queues.items():
        for batch in batched(keys, TOGETHER[queue]):
            deliver.apply_async((batch,), queue=queue, expires=60)


@app.task(name="filters.deliver", ignore_result=True)
def deliver(keys: Sequence[int]) -> None:
    """Deliver to those of the destinations that are still free, over one connection for mail."""
    with mail.kept_connection():
        sending.deliver(keys)


@app.task(name="filters.send_sample", ignore_result=True)
def send_sample(key: int) -> None:
    """Send the sample that the owner of a destination has asked for."""
    samples.send_sample(key)
