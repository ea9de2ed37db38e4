"""`manage.py wait [INSTANT|TOKEN]`: wait until mail has reached every delivery."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from django.core.management.base import CommandParser

from filters.compose.arrival import remaining_of
from filters.delivery.reached import Remaining, remaining
from filters.site.management.base import TapestryCommand, instant
from filters.site.work.parts import services
from tapestry.core.clock import format_instant, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.tables.delta.log import newest_instant

MAIL = "mail"

LOOK_SECONDS = 0.5
"""How often it looks again."""


class Command(TapestryCommand):
    """Wait for the workers; say on standard error what is waited for, as it changes."""

    help = (
        "Wait until all mail and votes that are here, those up to INSTANT, or what TOKEN is of "
        "(as ingest and the pages name it), have been run through every filter, listed, and sent."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("until", nargs="?", type=_instant_or_token, metavar="INSTANT|TOKEN")
        parser.add_argument(
            "--timeout", type=float, default=600.0, metavar="SECONDS", help="the longest wait (600)"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Wait, and print up to when all is complete; raise TapestryError after the longest."""
        what, look = _waited_for(options["until"])
        end = time.monotonic() + options["timeout"]
        before = Remaining((), ())
        while (rest := look()).now:
            if rest.now != before.now:
                self.stderr.write(" ".join(rest.now), style_func=str)
            if time.monotonic() > end:
                raise TapestryError(
                    f"{what[:1].upper()}{what[1:]} has not come everywhere: " + " ".join(rest.now),
                    hint="Is the worker there? /healthz says how each part is doing.",
                )
            before = rest
            time.sleep(LOOK_SECONDS)
        is_mail = what.startswith(MAIL)
        said = f"Complete{what.removeprefix(MAIL)}." if is_mail else "Complete."
        row = {"complete": True, "waits_for": [], "later": rest.later}  # as the API has it
        self.tell(row, " ".join([said, *rest.later]), is_json=options["json"])


def _instant_or_token(text: str) -> int | str:
    """Read an ISO instant, or a token, for argparse."""
    return instant(text) if text[:1].isdecimal() else text


def _waited_for(given: int | str | None) -> tuple[str, Callable[[], Remaining]]:
    """Return what is waited for, in words, and how to look what of it remains."""
    if given is None:
        up_to, votes_until = newest_instant(services.tables()), wall_clock()
        words = f"{MAIL} up to {format_instant(up_to)}"
        return words, partial(remaining, up_to, votes_until=votes_until)
    if isinstance(given, int):
        return f"{MAIL} up to {format_instant(given)}", partial(remaining, given)
    return "what the token is of", partial(remaining_of, given)
