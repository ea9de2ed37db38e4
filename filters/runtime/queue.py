"""Tasks sent to the worker from pages."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import redis
from celery import Task
from kombu.exceptions import OperationalError as BrokerError

log = logging.getLogger(__name__)


def send(task: Task, args: Sequence[Any], *, otherwise: str, **options: Any) -> bool:
    """Ask the worker for a task that the clock would start too, later.

    Return False if the queue cannot be reached, and log what happens ``otherwise``.
    """
    try:
        task.apply_async(args, retry=False, **options)
    except (BrokerError, redis.RedisError, OSError) as error:
        log.warning("%s: %s", otherwise, error)
        return False
    return True
