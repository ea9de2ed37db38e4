"""`manage.py wait [INSTANT]`: wait until mail has reached every delivery."""

from __future__ import annotations

import time
from typing import Any

from django.core.management.base import CommandParser

from filters.delivery.reached import Remaining, remaining
from filters.site.management.base import TapestryCommand, instant
from filters.site.work import services
from tapestry.core.clock import format_instant
from tapestry.core.errors import TapestryError
from tapestry.tables.delta.log import newest_instant

LOOK_SECONDS = 0.5
"""How often it looks again."""


class Command(TapestryCommand):
    """Wait for the workers; say on standard error what is waited for, as it changes."""

    help = (
        "Wait until all mail that is here, or that up to INSTANT, "
        "has been run through every filter, listed, and sent."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("instant", nargs="?", type=instant, metavar="INSTANT")
        parser.add_argument(
            "--timeout", type=float, default=600.0, metavar="SECONDS", help="the longest wait (600)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Wait, and print up to when all is complete; raise TapestryError after the longest."""
        up_to = options["instant"]
        up_to = newest_instant(services.tables()) if up_to is None else up_to
        end = time.monotonic() + options["timeout"]
        before = Remaining((), ())
        while (rest := remaining(up_to)).now:
            if rest.now != before.now:
                self.stderr.write(" ".join(rest.now), style_func=str)
            if time.monotonic() > end:
                raise TapestryError(
                    f"Mail up to {format_instant(up_to)} has not come everywhere: "
                    + " ".join(rest.now),
                    hint="Is the worker there? /healthz says how each part is doing.",
                )
            before = rest
            time.sleep(LOOK_SECONDS)
        self.stdout.write(" ".join([f"Complete up to {format_instant(up_to)}.", *rest.later]))
