"""The Django app."""

from __future__ import annotations

from django.apps import AppConfig


class AuthoringConfig(AppConfig):
    """Filters as people write them."""

    name = "filters.authoring"

    def ready(self) -> None:
        from filters.authoring import signals

        signals.connect_signals()
