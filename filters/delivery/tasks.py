"""Tasks of the workers: release what has come due, and deliver it.

    deliver_due ─ release ─> deliver, once for each thread of a queue that has something due

A task that delivers claims a few destinations at a time until none is due.  So nobody waits behind
a crowd that was due before, and a task that comes late finds nothing to do.
"""

from __future__ import annotations

from django.conf import settings

from filters.delivery import beats, sending
from filters.delivery.dispatch import claims
from filters.delivery.mail import bounces, outgoing
from filters.delivery.ways.table import kinds_of
from filters.delivery.ways.way import MAIL, OUTBOUND
from filters.runs.store.release import release
from filters.site.settings.workers import THREADS
from tapestry.celery import app

AT_ONCE = {MAIL: 20, OUTBOUND: 1}
"""Destinations that a thread claims at once, by queue: what may hang holds up no other."""

MOST_AN_OWNER = {OUTBOUND: 2}
"""Destinations of one person that are served at a time: their slow servers hold up no other's."""

SOON = 5.0
"""Seconds after which a task that has not begun is not needed: there will be another."""

BEAT = 60.0
"""Seconds between two beats of a webhook."""


@app.task(name="filters.deliver_due", ignore_result=True)
def deliver_due() -> None:
    """Release the matches whose time has come, and have all threads deliver that are needed."""
    release()
    claims.free_abandoned()
    for queue, at_once in AT_ONCE.items():
        threads = THREADS[queue] * sum(lanes.count(queue) for lanes in settings.WORKERS)
        waiting = len(claims.due(kinds_of(queue), threads * at_once))
        for _ in range(-(-waiting // at_once)):
            deliver.apply_async((queue,), queue=queue, expires=SOON)


@app.task(name="filters.deliver", ignore_result=True)
def deliver(queue: str) -> None:
    """Deliver what is due in a queue, mail over one connection."""
    with outgoing.kept_connection():
        sending.deliver(kinds_of(queue), AT_ONCE[queue], MOST_AN_OWNER.get(queue))


@app.task(name="filters.beat_webhooks", ignore_result=True)
def beat_webhooks() -> None:
    """Have the webhooks of each person get their beats, if they ask for these."""
    for owner in beats.owners():
        beat_webhooks_of.apply_async((owner,), queue=OUTBOUND, expires=BEAT)


@app.task(name="filters.beat_webhooks_of", ignore_result=True)
def beat_webhooks_of(owner: int) -> None:
    """Send the webhooks of a person their beats."""
    beats.beat(owner)


@app.task(name="filters.read_bounces", ignore_result=True)
def read_bounces() -> None:
    """Pause the addresses whose mail has come back to the mailbox of bounces."""
    bounces.read_mailbox()
