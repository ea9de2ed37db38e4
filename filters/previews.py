"""What previews come to, while the page that asked waits for it.

An answer lies in Redis for ten minutes, under its task and the user who asked: nobody else
can fetch it.
"""

from __future__ import annotations

import json
from typing import Any

import redis

from filters import parts

KEPT = 600
"""Seconds for which an answer is kept."""


def keep_preview(task_id: str, user_id: int, answer: dict[str, Any]) -> None:
    """Keep what a preview came to, for the page that waits for it."""
    with _server() as server:
        server.set(_key(task_id, user_id), json.dumps(answer), ex=KEPT)


def preview_result(task_id: str, user_id: int) -> dict[str, Any] | None:
    """Return what this user's preview came to, None while there is nothing."""
    with _server() as server:
        kept = server.get(_key(task_id, user_id))
    return None if kept is None else json.loads(str(kept))


def _key(task_id: str, user_id: int) -> str:
    return f"tapestry:preview:{user_id}:{task_id}"


def _server() -> redis.Redis:
    return redis.Redis.from_url(
        parts.redis_url(), socket_connect_timeout=1, socket_timeout=5, decode_responses=True
    )
