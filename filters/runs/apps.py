"""The Django app."""

from __future__ import annotations

from django.apps import AppConfig


class RunsConfig(AppConfig):
    """Runs of filters."""

    name = "filters.runs"

    def ready(self) -> None:
        from filters.runs.store import schedule

        schedule.connect_signals()
