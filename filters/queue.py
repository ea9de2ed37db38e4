"""Tasks sent to the worker from pages, and what previews come to.

A preview's answer lies in Redis for ten minutes, under its task and the user who asked:
nobody else can fetch it.
"""

from __future__ import annotations

import json
import logging
import uuid
from typing import Any

import redis
from kombu.exceptions import OperationalError as BrokerError

from filters import parts

log = logging.getLogger(__name__)

KEPT = 600
"""Seconds for which a preview's answer is kept."""


def append_soon() -> bool:
    """Ask the worker to append what waits; return False if the queue cannot be reached.

    Nothing is lost then: what waits is in the database, and the next run appends it.
    """
    from filters import tasks

    try:
        tasks.append_annotations.apply_async(retry=False)
    except (BrokerError, redis.RedisError, OSError) as error:
        log.warning("What waits will be appended by the next run: %s", error)
        return False
    return True


def start_preview(text: str, user_id: int) -> str:
    """Ask the worker what a filter would have matched; return the task's id."""
    from filters import tasks

    task_id = str(uuid.uuid4())
    tasks.preview.apply_async((text, user_id), task_id=task_id, retry=False)
    return task_id


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
