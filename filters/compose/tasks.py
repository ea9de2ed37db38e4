"""Tasks of the workers: send what people have sent off."""

from __future__ import annotations

from filters.compose.sending import outbox
from filters.compose.sending.outbox import UNDO
from filters.site.work.queues.queue import send
from tapestry.celery import app

EXPIRES = 60
"""Seconds after which a task that has not begun is not needed: there will be another."""


@app.task(name="filters.send_outbox", ignore_result=True)
def send_outbox() -> None:
    """Have all messages sent that are due; their own tasks may have been lost."""
    for key in outbox.due():
        send_message.apply_async((key,), expires=EXPIRES)


@app.task(name="filters.send_message", ignore_result=True)
def send_message(key: int) -> None:
    """Send a message, if it is due and nobody is at it."""
    outbox.send_apart(key)


def send_soon(key: int, seconds: float = UNDO) -> bool:
    """Ask the worker to send a message after so many seconds; without a queue the clock does.

    Return False if the queue cannot be reached.
    """
    later = {"countdown": seconds + 0.1, "expires": seconds + EXPIRES} if seconds else {}
    return send(send_message, (key,), otherwise="It is sent by the clock", **later)
