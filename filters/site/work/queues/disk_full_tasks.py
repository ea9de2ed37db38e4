"""Tasks wait while the disk is nearly full; one that met a full disk says so in a line."""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

from celery import Task
from django.conf import settings

from tapestry.core.files.disk_space import is_disk_full, require_room
from tapestry.core.log import line

log = logging.getLogger(__name__)

LOG_EVERY = 60.0
"""Seconds between two lines of a process: they too need room."""

_lock = threading.Lock()
_logged_at = -LOG_EVERY


class DiskAwareTask(Task):
    """A task that does not begin before there is room; nothing is lost, for the clock asks again.

    ``needs_room=False`` is for those that a person waits for, and those that make room.
    """

    needs_room = True
    Strategy = "filters.site.work.queues.passing_on:strategy"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the task, unless the disk is full."""
        try:
            if self.needs_room:
                require_room(settings.DATA)
            return super().__call__(*args, **kwargs)
        except Exception as error:
            if not is_disk_full(error):
                raise
            log_full(self.name, error)


def log_full(task: str, error: Exception) -> None:
    """Log that the disk is full, unless that was done within the last minute."""
    global _logged_at
    with _lock:
        if time.monotonic() - _logged_at < LOG_EVERY:
            return
        _logged_at = time.monotonic()
    log.error("%s", line("disk_full", task=task, error=str(error).partition("\n")[0]))
