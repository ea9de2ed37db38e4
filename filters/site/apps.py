"""The Django app."""

from __future__ import annotations

import gc

from django.apps import AppConfig

ALLOCATIONS = 50_000
"""Objects that are made before the garbage collector looks at the young ones.

With the default of 700 it takes a tenth of a round over a million filters, to free next to nothing.
"""


class SiteConfig(AppConfig):
    """The site around the other apps."""

    name = "filters.site"

    def ready(self) -> None:
        from filters.site.work.db.database import choose_locks

        choose_locks()
        gc.set_threshold(ALLOCATIONS, *gc.get_threshold()[1:])
