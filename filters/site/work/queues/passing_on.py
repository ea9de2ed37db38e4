"""Tasks that a worker does not know, for a newer version sent them: passed on, never lost.

    unknown task or arguments ─ a second ─> the end of its queue ─> a worker that knows them

One that expires is dropped then, as by who knows it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from celery import Task
from celery.utils.time import maybe_iso8601, maybe_make_aware
from celery.worker.consumer import Consumer
from celery.worker.strategy import default

from tapestry.core.log import line

log = logging.getLogger(__name__)

PAUSE = 1.0
"""Seconds for which a task is kept back: where no worker knows it, none is busy with it."""


def strategy(task: Task, app: Any, consumer: Any, **options: Any) -> Callable[..., Any]:
    """Return what begins a task with the message of it, if it takes the arguments."""
    begin = default(task, app, consumer, **options)

    def begin_known(message: Any, *rest: Any) -> Any:
        match message.payload:
            case [list() as given, dict() as named, _]:
                try:
                    task.__header__(*given, **named)
                except TypeError as error:
                    return consumer.pass_on(message, str(error))
        return begin(message, *rest)

    return begin_known


class PassingConsumer(Consumer):  # type: ignore[misc]
    """A consumer of queues that puts back what is for a worker of another version."""

    def on_unknown_task(self, body: object, message: Any, exc: Exception) -> None:
        self.pass_on(message, "the task is unknown")

    def pass_on(self, message: Any, reason: str) -> None:
        """Put a message back to the end of its queue, in a moment, unless it has expired."""
        if _is_over(message.headers.get("expires")):
            message.ack_log_error(log, self.connection_errors)
            return
        if not message.headers.get("redelivered"):
            log.warning("%s", line("passed_on", task=message.headers["task"], reason=reason))
        self.qos.increment_eventually()
        self.timer.call_after(PAUSE, self._put_back, (message,))

    def _put_back(self, message: Any) -> None:
        message.reject_log_error(log, self.connection_errors, requeue=True)
        self.qos.decrement_eventually()


def _is_over(expires: str | None) -> bool:
    return expires is not None and maybe_make_aware(maybe_iso8601(expires)) < datetime.now(UTC)
