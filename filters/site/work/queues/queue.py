"""Tasks sent to the workers, from pages and from those that bring mail.

Celery is imported where one is sent: many commands send none.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from filters.site.work.parts import services

if TYPE_CHECKING:
    from celery import Signature, Task

log = logging.getLogger(__name__)

TICK, UNPROVEN_WINDOWS = "filters.tick", "filters.unproven_windows"
DELIVER_DUE, PULL_DUE = "filters.deliver_due", "filters.pull_due"
APPRAISE = "filters.appraise"
"""Tasks that are sent by name: those who send them do not know the lanes."""

SOON = 5.0
"""Seconds after which a lane that was asked for runs by the clock anyway."""


def run_soon(name: str) -> None:
    """Have a lane run at once: something is new."""
    if os.environ.get("REDIS_URL") or (services.run() / "redis.url").exists():
        from tapestry.celery import app

        send(app.signature(name), (), otherwise=f"{name} runs by the clock", expires=SOON)


def send(task: Task | Signature, args: Sequence[Any], *, otherwise: str, **options: Any) -> bool:
    """Ask the worker for a task that the clock would start too, later.

    Return False if the queue cannot be reached, and log what happens ``otherwise``.
    """
    from kombu.exceptions import OperationalError as BrokerError
    from redis import RedisError

    try:
        task.apply_async(args, retry=False, **options)
    except (BrokerError, RedisError, OSError) as error:
        log.warning("%s: %s", otherwise, error)
        return False
    return True
