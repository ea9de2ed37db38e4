"""The Django app."""

from __future__ import annotations

from django.apps import AppConfig
from django.core.checks import Tags, register


class PeopleConfig(AppConfig):
    """People, and how they sign in."""

    name = "filters.people"

    def ready(self) -> None:
        from filters.people.names import retired_names
        from filters.people.sessions import record
        from filters.people.signing_in import checks

        register(checks.check_proxies, Tags.security)
        retired_names.connect_signals()
        record.connect_signals()
