"""Tasks of the workers: send a push subscription the code that its program sends back."""

from __future__ import annotations

from filters.jmap import push
from tapestry.celery import app


@app.task(name="filters.verify_push", ignore_result=True)
def verify_push(key: int) -> None:
    """Send a subscription its code."""
    push.verify(key)
