"""Tasks sent to the worker from pages."""

from __future__ import annotations

import logging
import uuid

import redis
from kombu.exceptions import OperationalError as BrokerError

from filters import tasks

log = logging.getLogger(__name__)


def append_soon() -> bool:
    """Ask the worker to append what waits; return False if the queue cannot be reached.

    Nothing is lost then: what waits is in the database, and the next run appends it.
    """
    try:
        tasks.append_annotations.apply_async(retry=False)
    except (BrokerError, redis.RedisError, OSError) as error:
        log.warning("What waits will be appended by the next run: %s", error)
        return False
    return True


def start_preview(text: str, user_id: int, *, live: bool = False) -> str:
    """Ask the worker what a filter would have matched, or matches now; return the task's id."""
    task_id = str(uuid.uuid4())
    tasks.preview.apply_async((text, user_id, live), task_id=task_id, retry=False)
    return task_id


def pull_soon(source_id: int) -> None:
    """Ask the worker to pull a source; where the queue is away, it is pulled when it is due."""
    try:
        tasks.pull_source.apply_async((source_id,), retry=False, expires=60)
    except (BrokerError, redis.RedisError, OSError) as error:
        log.warning("The source will be pulled when it is due: %s", error)
