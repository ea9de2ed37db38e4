"""The worker's task for those who write a filter: the preview."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

from celery import Task
from django.conf import settings
from django.contrib.auth.models import User

from filters.accounts import people
from filters.authoring.previews import begin_preview, keep_preview, wanted
from filters.runtime import services
from filters.store.filter_store import latest_instant
from tapestry.celery import app
from tapestry.core.errors import TapestryError
from tapestry.plan.engine import TooSlowError

PREVIEW_ROWS = 10


TOO_SLOW = (
    "This takes more than {seconds:g} seconds over the mail that is here, so there is no preview. "
    "Say more narrowly what it is to find."
)


@app.task(name="filters.preview", bind=True, ignore_result=True, expires=60, needs_room=False)
def preview(self: Task, text: str, user_id: int, live: bool = False) -> None:
    """Keep what a filter would have matched so far, for the user who writes it.

    ``live``: what it matches now instead.  It ends after ``PREVIEW_SECONDS``, or when nobody
    waits for it any more.
    """
    answer: dict[str, Any] = {"error": "The preview failed; the worker's log says why."}
    with wanted(self.request.id, user_id) as is_wanted:
        if not is_wanted():
            return
        try:
            answer = preview_for(User.objects.get(pk=user_id), text, live, is_wanted)
        except TooSlowError:
            answer = {"error": TOO_SLOW.format(seconds=settings.PREVIEW_SECONDS)}
        except TapestryError as error:
            answer = {"error": error.message}
        finally:
            keep_preview(self.request.id, user_id, text, answer)


def preview_for(
    user: User, text: str, live: bool = False, is_wanted: Callable[[], bool] = lambda: True
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
    task_id = str(uuid.uuid4())
    begin_preview(task_id, user_id)
    preview.apply_async((text, user_id, live), task_id=task_id, retry=False)
    return task_id
