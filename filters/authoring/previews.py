"""Results of previews, kept in Redis for ten minutes for the page that waits for them.

The key names the task and the user who asked: nobody else can fetch a result.  A result holds
msgids alone: the messages are read when it is fetched, as far as the user may see them then.
"""

from __future__ import annotations

import json
from typing import Any

import redis
from django.contrib.auth.models import User

from filters.accounts import people
from filters.runtime import services
from tapestry.tables.read import cards

KEPT = 600
"""Seconds for which an answer is kept."""


def keep_preview(task_id: str, user_id: int, answer: dict[str, Any]) -> None:
    """Keep the result of a preview for the page that waits for it.

    ``{"count", "msgids", "live", "audiences"}``, the newest message first and the audiences
    that it was computed for, or ``{"error": sentence}``.
    """
    with _server() as server:
        server.set(_key(task_id, user_id), json.dumps(answer), ex=KEPT)


def preview_result(task_id: str, user: User) -> dict[str, Any] | None:
    """Return the result of this user's preview, None while there is none.

    ``{"count", "rows": cards, "live"}`` or ``{"error": sentence}``.
    """
    with _server() as server:
        kept = server.get(_key(task_id, user.pk))
    if kept is None:
        return None
    answer: dict[str, Any] = json.loads(str(kept))
    if "error" in answer:
        return answer
    audiences = people.audiences(user)
    if answer["audiences"] != list(audiences):
        return {"error": "You joined or left a group meanwhile: look again."}
    visible = cards(services.tables(), answer["msgids"], audiences)
    rows = [visible[msgid] for msgid in answer["msgids"] if msgid in visible]
    return {"count": answer["count"], "rows": rows, "live": answer["live"]}


def _key(task_id: str, user_id: int) -> str:
    return f"tapestry:preview:{user_id}:{task_id}"


def _server() -> redis.Redis:
    return redis.Redis.from_url(
        services.redis_url(), socket_connect_timeout=1, socket_timeout=5, decode_responses=True
    )
