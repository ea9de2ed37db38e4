"""Send tasks to the worker, from pages."""

from __future__ import annotations

import logging

from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

from filters import tasks

log = logging.getLogger(__name__)


def append_soon() -> bool:
    """Ask the worker to append what waits; return False if the queue cannot be reached.

    Nothing is lost then: what waits is in the database, and the next run appends it.
    """
    try:
        tasks.append_annotations.apply_async(retry=False)
    except (BrokerError, RedisError, OSError) as error:
        log.warning("What waits will be appended by the next run: %s", error)
        return False
    return True


def start_preview(text: str, user_id: int) -> str:
    """Ask the worker what a filter would have matched; return the task's id."""
    task_id: str = tasks.preview.apply_async((text, user_id), retry=False).id
    return task_id


def preview_result(task_id: str) -> dict[str, object] | None:
    """Return what a preview came to, None while it is under way."""
    result = tasks.preview.AsyncResult(task_id)
    if not result.ready():
        return None
    if result.successful():
        answer: dict[str, object] = result.result
        return answer
    return {"error": "The preview could not be computed; the worker's log says why."}
