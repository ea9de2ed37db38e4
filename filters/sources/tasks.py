"""Tasks of the workers: pull the sources that are due, and try connections."""

from __future__ import annotations

import threading
from collections import Counter

from filters.site.work.queues.queue import send
from filters.sources.accounts import trials
from filters.sources.models import Source
from filters.sources.schedule import due
from tapestry.celery import app

MOST_PULLS, MOST_OF_ONE = 3, 2
"""Pulls at a time, and those of one person; votes and upkeep have the worker's other threads."""

_pulling: Counter[int] = Counter()
_lock = threading.Lock()


@app.task(name="filters.pull_due", ignore_result=True)
def pull_due() -> None:
    for source_id in due():
        pull_source.apply_async((source_id,), expires=60)


@app.task(name="filters.pull_source", ignore_result=True)
def pull_source(source_id: int) -> None:
    """Pull what is new of a source, unless too many pulls are running: then it stays due.

    A person has two at a time, so that nobody's slow servers hold up the sources of all.  One that
    raises an error is set aside.
    """
    from filters.sources.pull import pulling

    source = Source.objects.filter(pk=source_id, active=True, owner__is_active=True).first()
    if source is None:
        return
    with _lock:
        if _pulling.total() >= MOST_PULLS or _pulling[source.owner_id] >= MOST_OF_ONE:
            return
        _pulling[source.owner_id] += 1
    try:
        pulling.pull_apart(source)
    finally:
        with _lock:
            _pulling[source.owner_id] -= 1


@app.task(name="filters.act_in_mailboxes", ignore_result=True)
def act_in_mailboxes() -> None:
    """Have done what is to be done in the mailboxes of people: acts of filters, and flags."""
    from filters.sources.both_ways import acting

    for source_id in acting.due():
        act_in_mailbox.apply_async((source_id,), expires=60)


@app.task(name="filters.act_in_mailbox", ignore_result=True)
def act_in_mailbox(source_id: int) -> None:
    from filters.sources.both_ways import acting

    source = Source.objects.filter(pk=source_id, active=True).first()
    if source is not None and (source.may_act or source.syncs_flags):
        acting.act_in(source)


@app.task(name="filters.run_trial", ignore_result=True, needs_room=False)
def run_trial(key: int) -> None:
    """Answer the trial that somebody waits for on a page."""
    trials.run(key)


def pull_soon(source_id: int) -> None:
    """Ask the worker to pull a source; without a queue it is pulled when it is due."""
    send(
        pull_source, (source_id,), otherwise="The source will be pulled when it is due", expires=60
    )
