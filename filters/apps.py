"""The Django app."""

from __future__ import annotations

import gc

from django.apps import AppConfig
from django.core.checks import Tags, register

ALLOCATIONS = 50_000
"""Objects that are made before the garbage collector looks at the young ones.

With the default of 700 it takes a tenth of a round over a million filters, to free next to nothing.
"""


class FiltersConfig(AppConfig):
    """Filters, matches and the pages that show them."""

    name = "filters"
    verbose_name = "Tapestry"

    def ready(self) -> None:
        gc.set_threshold(ALLOCATIONS, *gc.get_threshold()[1:])
        from filters.accounts import known_audiences, retired_names
        from filters.accounts.second_factor import pending
        from filters.accounts.signing_in import checks
        from filters.authoring import visibility_changes
        from filters.store import schedule

        register(checks.check_proxies, Tags.security)
        visibility_changes.connect_signals()
        known_audiences.connect_signals()
        retired_names.connect_signals()
        pending.connect_signals()
        schedule.connect_signals()
