"""What the worker does, each in a few lines: claim, call the engine, store."""

from __future__ import annotations

import logging
import threading
from typing import Any

from celery import Task
from django.contrib.auth.models import User

from filters import parts, people, rounds
from filters.annotate import append_pending
from filters.forgetting import forget_old
from filters.models_source import Source
from filters.previews import keep_preview
from filters.sources.due import due
from filters.stores import latest_instant
from tapestry.celery import app
from tapestry.core.errors import TapestryError

log = logging.getLogger(__name__)

PREVIEW_ROWS = 10

PULLS = threading.BoundedSemaphore(2)
"""Of the worker's four threads, pulls may hold two: runs and previews have the others."""


@app.task(name="filters.tick", ignore_result=True)
def tick() -> None:
    """Run what is due, unless a run is under way."""
    with rounds.the_only_round(wait=False) as mine:
        if mine:
            try:
                rounds.run_round()
            except TapestryError as error:
                log.error("No run: %s %s", error.message, error.hint or "")


@app.task(name="filters.append_annotations", ignore_result=True)
def append_annotations() -> None:
    """Append the annotations that wait."""
    append_pending(parts.tables())


@app.task(name="filters.preview", bind=True, ignore_result=True, expires=60)
def preview(self: Task, text: str, user_id: int, live: bool = False) -> None:
    """Keep what a filter would have matched so far, for the user who writes it.

    ``live``: what it matches now instead.
    """
    answer: dict[str, Any] = {"error": "The preview failed; the worker's log says why."}
    try:
        answer = preview_for(User.objects.get(pk=user_id), text, live)
    except TapestryError as error:
        answer = {"error": error.message}
    finally:
        keep_preview(self.request.id, user_id, answer)


def preview_for(user: User, text: str, live: bool = False) -> dict[str, Any]:
    """Return how many messages a filter of this user would have matched, and the newest."""
    from tapestry.run.ask import ask, preview

    audiences = people.audiences(user)
    answer = (ask if live else preview)(
        parts.engine_on,
        parts.tables(),
        text,
        people.context(user),
        audiences,
        latest_instant(),
        PREVIEW_ROWS,
    )
    return {
        "count": answer.count,
        "msgids": [card.msgid for card in answer.cards],
        "live": live,
        "audiences": audiences,
    }


@app.task(name="filters.compact", ignore_result=True)
def compact() -> None:
    """Merge the small files of the tables, and remove what is older than it may be kept."""
    from tapestry.tables.compact import compact as compact_tables

    compact_tables(parts.tables())
    for audience, gone in forget_old():
        if gone.messages:
            log.info("%d old messages of %s removed", gone.messages, audience)


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
