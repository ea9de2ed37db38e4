"""`manage.py tick`: one run of what is due."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from filters.runs import rounds
from filters.site.management.base import TapestryCommand, instant


class Command(TapestryCommand):
    """Append the votes that wait, run every due filter, and say what was found."""

    help = "Run what is due, once; wait for what is running."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--at", type=instant, metavar="INSTANT", help="run up to this instant")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run one round and print its report."""
        with rounds.all_lanes():
            report = rounds.run_round(options["at"])
        failed = f", {report.failed} that cannot be compiled" if report.failed else ""
        lost = "" if report.committed else "; a filter changed meanwhile, so nothing was stored"
        self.stdout.write(
            f"{report.filters} filters{failed}, {len(report.matches)} new matches, "
            f"{report.seconds:.2f} s{lost}"
        )
