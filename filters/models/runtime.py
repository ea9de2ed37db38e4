"""The state of an installation: its clock, its shared window, its heartbeats.

Instants are microseconds (tapestry.core.clock).
"""

from __future__ import annotations

from django.db import models


class Clock(models.Model):
    """The one clock of an installation: a single row, read and advanced under its lock."""

    last = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.last)


class Heartbeat(models.Model):
    """When the worker last ran a round, or the listener was alive: for the health page."""

    WORKER, LISTENER = 1, 2
    """The rows there are."""

    started_at = models.BigIntegerField(default=0)
    ended_at = models.BigIntegerField(default=0)
    error = models.TextField(default="", blank=True)

    def __str__(self) -> str:
        return self.error or "well"


class SharedWindow(models.Model):
    """The watermark of all filters that share one window: a single row."""

    since = models.BigIntegerField(null=True, blank=True)
    ran_at = models.BigIntegerField(null=True, blank=True)

    def __str__(self) -> str:
        return str(self.since)
