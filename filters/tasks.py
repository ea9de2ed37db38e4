"""What the worker does, each in a few lines: claim, call the engine, store."""

from __future__ import annotations

import logging
from typing import Any

from django.contrib.auth.models import User

from filters import parts, people, rounds
from filters.annotate import append_pending
from filters.stores import latest_instant
from tapestry.celery import app
from tapestry.core.errors import TapestryError

log = logging.getLogger(__name__)

PREVIEW_ROWS = 10


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


@app.task(name="filters.preview", expires=60)
def preview(text: str, user_id: int) -> dict[str, Any]:
    """Return what a filter would have matched so far, for the user who writes it.

    ``{"user", "count", "rows": [{msgid, sender, sender_name, subject, sent}]}``, newest
    first, or ``{"user", "error"}``.
    """
    from tapestry.run.ask import preview as ask_preview

    user = User.objects.get(pk=user_id)
    try:
        answer = ask_preview(
            parts.engine_on,
            parts.tables(),
            text,
            people.context(user),
            people.audiences(user),
            latest_instant(),
            PREVIEW_ROWS,
        )
    except TapestryError as error:
        return {"user": user_id, "error": error.message}
    rows = [
        {
            "msgid": card.msgid,
            "sender": card.sender or "",
            "sender_name": card.sender_name or "",
            "subject": card.subject or "",
            "sent": card.ts if card.date is None else card.date,
        }
        for card in answer.cards
    ]
    return {"user": user_id, "count": answer.count, "rows": rows}


@app.task(name="filters.compact", ignore_result=True)
def compact() -> None:
    """Merge the small files of the tables."""
    from tapestry.tables.compact import compact as compact_tables

    compact_tables(parts.tables())
