"""Previews in Redis: which is wanted, and its result for the page that waits for it.

A person has one preview at a time: the newest, as long as its page is open.  The key of a result
names the task and the user who asked: nobody else can fetch it.  A result holds msgids alone:
the messages are read when it is fetched, as far as the user may see them then.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import redis
from django.contrib.auth.models import User

from filters.accounts import people
from filters.runtime import services
from tapestry.tables.read import cards

KEPT = 600
"""Seconds for which an answer is kept."""

OPEN = 10
"""Seconds for which a page counts as open after it has asked for the result."""


def begin_preview(task_id: str, user_id: int) -> None:
    """Let a preview be the one that this user waits for, and no older one."""
    with _server() as server, server.pipeline() as pipeline:
        pipeline.set(_newest(user_id), task_id, ex=KEPT)
        pipeline.set(_open(task_id), 1, ex=OPEN)
        pipeline.execute()


def is_wanted(server: redis.Redis, task_id: str, user_id: int) -> bool:
    """Return whether the page that asked for a preview still waits for it."""
    try:
        newest, is_open = server.mget(_newest(user_id), _open(task_id))
    except redis.RedisError:
        return True
    return bool(newest == task_id and is_open)


@contextmanager
def wanted(task_id: str, user_id: int) -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether a preview is still wanted."""
    with _server() as server:
        yield partial(is_wanted, server, task_id, user_id)


def keep_preview(task_id: str, user_id: int, text: str, answer: dict[str, Any]) -> None:
    """Keep the result of a preview for the page that waits for it, and for a filter of the text.

    ``{"count", "msgids", "live", "audiences"}``, the newest message first and the audiences
    that it was computed for, or ``{"error": sentence}``.
    """
    stored = json.dumps(answer)
    with _server() as server, server.pipeline() as pipeline:
        pipeline.set(_key(task_id, user_id), stored, ex=KEPT)
        if "error" not in answer:
            pipeline.set(_of_text(text, user_id, live=answer["live"]), stored, ex=KEPT)
        pipeline.execute()


def preview_of_text(text: str, user: User, *, live: bool) -> dict[str, Any] | None:
    """Return what a preview of this user has found for a text, None if there was none of late."""
    try:
        with _server() as server:
            kept = server.get(_of_text(text, user.pk, live=live))
    except redis.RedisError:
        return None
    answer = None if kept is None else _visible(json.loads(str(kept)), user)
    return None if answer is None or "error" in answer else answer


def preview_result(task_id: str, user: User) -> dict[str, Any] | None:
    """Return the result of this user's preview, None while there is none.

    ``{"count", "rows": cards, "live"}`` or ``{"error": sentence}``.
    """
    with _server() as server:
        kept = server.get(_key(task_id, user.pk))
        if kept is None:
            server.set(_open(task_id), 1, ex=OPEN, xx=True)
    if kept is None:
        return None
    return _visible(json.loads(str(kept)), user)


def _visible(answer: dict[str, Any], user: User) -> dict[str, Any]:
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


def _of_text(text: str, user_id: int, *, live: bool) -> str:
    digest = hashlib.sha256("\n".join(text.splitlines()).encode()).hexdigest()
    return f"tapestry:preview:{user_id}:{'live' if live else 'kept'}:{digest}"


def _newest(user_id: int) -> str:
    return f"tapestry:preview:{user_id}:newest"


def _open(task_id: str) -> str:
    return f"tapestry:preview:open:{task_id}"


def _server() -> redis.Redis:
    return redis.Redis.from_url(
        services.redis_url(), socket_connect_timeout=1, socket_timeout=5, decode_responses=True
    )
