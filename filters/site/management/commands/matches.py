"""`manage.py matches FILTER`: what a filter delivers, as a stream with a cursor."""

from __future__ import annotations

import json
import time
from typing import Any

from django.core.management.base import CommandParser

from filters.authoring.models import Filter
from filters.delivery import sequence
from filters.runs.store.release import release
from filters.site.management.base import TapestryCommand
from tapestry.core.clock import format_instant
from tapestry.core.errors import TapestryError
from tapestry.deliver.batch import DeliveredMatch

AT_ONCE = 1_000
LOOK_SECONDS = 1.0
"""How often ``--follow`` looks for more."""


class Command(TapestryCommand):
    """Print what a filter delivered after a cursor, oldest first, each with the next cursor."""

    help = "Print the matches of FILTER (owner.name) after a cursor, in the order of delivery."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("filter", metavar="FILTER", help="such as terry.jones-replies")
        parser.add_argument(
            "--since", type=int, default=0, metavar="CURSOR", help="go on after this one (0)"
        )
        parser.add_argument("--follow", action="store_true", help="wait for more, until Ctrl-C")
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        self.stream(_filter(options["filter"]), options["since"], options["follow"], options)

    def stream(self, filter_: Filter, cursor: int, follow: bool, options: dict[str, Any]) -> None:
        """Print what comes after a cursor; for ever, if ``follow``."""
        if cursor < 0:
            raise TapestryError(f"{cursor} is not a cursor.", hint="Cursors count from 0.")
        while True:
            release()
            matches, last = sequence.after(filter_, cursor, AT_ONCE)
            for match in matches:
                self.stdout.write(_json(match) if options["json"] else _line(match))
            if last is not None:
                cursor = last
                self.stdout.flush()
            elif follow:
                time.sleep(LOOK_SECONDS)
            else:
                return


def _filter(name: str) -> Filter:
    owner, _, own_name = name.rpartition(".")
    filters = Filter.objects.filter(name=own_name).select_related("owner")
    found = list(filters.filter(owner__username=owner) if owner else filters[:2])
    if len(found) == 1:
        return found[0]
    if found:
        raise TapestryError(
            f"Several people have a filter {name}.", hint=f"Say whose: {found[0]}, say."
        )
    raise TapestryError(f"There is no filter {name}.", hint="Write OWNER.NAME, as in terry.jones.")


def _json(match: DeliveredMatch) -> str:
    row = {
        "cursor": match.sequence,
        "op": match.op,
        "msgid": match.msgid,
        "matched_at": format_instant(match.matched_at),
        "received": format_instant(match.received),
        "subject": match.subject,
        "from": {"name": match.sender_name, "address": match.sender},
        "why": match.explanation,
    }
    return json.dumps(row, ensure_ascii=False)


def _line(match: DeliveredMatch) -> str:
    sign = "+" if match.op == "insert" else "-"
    sender = match.sender_name or match.sender or "(nobody)"
    return f"{match.sequence} {sign} {sender}: {match.subject or '(no subject)'}"
