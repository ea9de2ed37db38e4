"""The Django app."""

from __future__ import annotations

from django.apps import AppConfig


class RunsConfig(AppConfig):
    """Runs of filters."""

    name = "filters.runs"
