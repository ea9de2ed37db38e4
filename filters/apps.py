"""The Django app."""

from __future__ import annotations

from django.apps import AppConfig


class FiltersConfig(AppConfig):
    """Filters, matches and the pages that show them."""

    name = "filters"
    verbose_name = "Tapestry"

    def ready(self) -> None:
        from filters.accounts import retired_names
        from filters.authoring import visibility_changes

        visibility_changes.connect_signals()
        retired_names.connect_signals()
