"""`manage.py forget --audience A`: remove somebody's mail for good."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from filters.site.management.base import TapestryCommand, instant
from filters.upkeep.forgetting import Report, count, forget
from tapestry.core.errors import TapestryError


class Command(TapestryCommand):
    """Remove an audience's mail from the tables, the originals, the deliveries, the history."""

    help = "Remove the mail of an audience for good, wherever it is kept; nothing brings it back."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--audience", required=True, metavar="A", help="user:NAME, group:NAME")
        parser.add_argument("--before", type=instant, metavar="INSTANT", help="only what is older")
        parser.add_argument("--yes", action="store_true", help="do not ask")
        parser.add_argument(
            "--dry-run", action="store_true", help="remove nothing: say how much would go"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Ask, remove, and say how much it was."""
        audience, before = options["audience"], options["before"]
        if options["dry_run"]:
            would = count(audience, before)
            words = f"Nothing is removed. {_words(would)} would be."
            self.tell({**asdict(would), "dry_run": True}, words, is_json=options["json"])
            return
        if not options["yes"]:
            if not sys.stdin.isatty():
                raise TapestryError("Nothing was removed: nobody can be asked.", hint="Add --yes.")
            asked = f"Remove the mail of {audience} for good? Write its name again: "
            if input(asked).strip() != audience:
                raise TapestryError("Nothing was removed.", hint="The names are not the same.")
        gone = forget(audience, before)
        paused = f"; {gone.paused} sources paused" if gone.paused else ""
        self.tell(asdict(gone), f"{_words(gone)} removed{paused}", is_json=options["json"])


def _words(gone: Report) -> str:
    return (
        f"{gone.messages} messages, {gone.originals} originals, {gone.annotations} annotations "
        f"and {gone.matches} deliveries"
    )
