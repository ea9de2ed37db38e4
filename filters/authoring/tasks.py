"""The worker's task for those who write a filter: the preview."""

from __future__ import annotations

from functools import partial
from typing import Any

from celery import Task
from django.conf import settings
from django.contrib.auth.models import User

from filters.accounts import people
from filters.authoring.previews import PREVIEWS, question
from filters.runtime import services
from filters.runtime.answers import EXPIRES, IsWanted
from filters.store.filter_store import latest_instant
from tapestry.celery import app

PREVIEW_ROWS = 10


@app.task(name="filters.preview", bind=True, ignore_result=True, expires=EXPIRES, needs_room=False)
def preview(self: Task, text: str, user_id: int, live: bool = False) -> None:
    """Keep what a filter would have matched so far, for the user who writes it.

    ``live``: what it matches now instead.  It ends after ``PREVIEW_SECONDS``, or when nobody
    waits for it any more.
    """

    def compute(is_wanted: IsWanted) -> dict[str, Any]:
        return preview_for(User.objects.get(pk=user_id), text, live, is_wanted)

    PREVIEWS.answer_to(self.request.id, user_id, question(text, live=live), compute)


def preview_for(
    user: User, text: str, live: bool = False, is_wanted: IsWanted = lambda: True
) -> dict[str, Any]:
    """Return how many messages a filter of this user would have matched, and the newest."""
    from tapestry.run.ask import ask

    audiences, context = people.audiences(user), people.context(user)
    tables, at = services.tables(), latest_instant()
    answer = ask(
        partial(services.unproven_engine_on, is_wanted=is_wanted),
        tables,
        text,
        context,
        audiences,
        at,
        PREVIEW_ROWS,
        so_far=not live,
        seconds=settings.PREVIEW_SECONDS,
    )
    msgids = [card.msgid for card in answer.cards]
    return {"count": answer.count, "msgids": msgids, "live": live, "audiences": audiences}


def start_preview(text: str, user_id: int, *, live: bool = False) -> str:
    """Ask the worker what a filter would have matched, or matches now; return the task's id."""
    return PREVIEWS.start(preview, user_id, question(text, live=live), text, user_id, live)
