"""What previews come to, while the page that asked waits for it.

An answer lies in Redis for ten minutes, under its task and the user who asked: nobody else
can fetch it.  It only names the messages: what they say is read when it is fetched, as far as
the user may see it then.
"""

from __future__ import annotations

import json
from typing import Any

import redis
from django.contrib.auth.models import User

from filters.accounts import people
from filters.runtime import services
from tapestry.tables.read import Card, cards

KEPT = 600
"""Seconds for which an answer is kept."""


def keep_preview(task_id: str, user_id: int, answer: dict[str, Any]) -> None:
    """Keep what a preview came to, for the page that waits for it.

    ``{"count", "msgids", "live", "audiences"}``, the newest message first and the audiences
    that it was computed for, or ``{"error": sentence}``.
    """
    with _server() as server:
        server.set(_key(task_id, user_id), json.dumps(answer), ex=KEPT)


def preview_result(task_id: str, user: User) -> dict[str, Any] | None:
    """Return what this user's preview came to, None while there is nothing.

    ``{"count", "rows": [{msgid, sender, sender_name, subject, sent}], "live"}`` or
    ``{"error": sentence}``.
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
    found = cards(services.tables(), answer["msgids"], audiences)
    rows = [_row(found[msgid]) for msgid in answer["msgids"] if msgid in found]
    return {"count": answer["count"], "rows": rows, "live": answer["live"]}


def _row(card: Card) -> dict[str, Any]:
    return {
        "msgid": card.msgid,
        "sender": card.sender,
        "sender_name": card.sender_name,
        "subject": card.subject,
        "sent": card.ts if card.date is None else card.date,
    }


def _key(task_id: str, user_id: int) -> str:
    return f"tapestry:preview:{user_id}:{task_id}"


def _server() -> redis.Redis:
    return redis.Redis.from_url(
        services.redis_url(), socket_connect_timeout=1, socket_timeout=5, decode_responses=True
    )
