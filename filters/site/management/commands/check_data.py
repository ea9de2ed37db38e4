"""`manage.py check-data`: read all that is stored, and say what is whole and what is damaged."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from filters.site.launch.claim import claimed
from filters.site.management.base import TapestryCommand
from filters.site.work.parts import machines, services
from tapestry.core.errors import TapestryError
from tapestry.tables.check.report import Damage, Report


class Command(TapestryCommand):
    """Check tables, indexes and database; mend what can be mended with ``--repair``."""

    help = "Read all that is stored, and say what is whole and what is damaged."
    needs_database = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--repair", action="store_true", help="mend what can be mended")
        parser.add_argument("--json", action="store_true", help="print one object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check, repair if asked, check again; end with 1 if damage remains."""
        from filters.upkeep import check_data

        report, done = check_data.check(), list[str]()
        if options["repair"] and report.damages:
            _require_others_stopped()
            with claimed(services.data()):
                done = check_data.repair()
                report = check_data.check()
        if options["json"]:
            counts = {kind: dict(read) for kind, read in report.counts.items()}
            damages = [asdict(damage) for damage in report.damages]
            content = {"read": counts, "damages": damages, "repaired": done}
            self.stdout.write(json.dumps(content, indent=1, ensure_ascii=False))
        else:
            for line in (*done, *_lines(report)):
                self.stdout.write(line)
        if report.damages:
            sys.exit(1)


def _require_others_stopped() -> None:
    """Raise TapestryError if another machine runs parts of this site."""
    running = [machine.name for machine in machines.known()] if settings.MACHINE else []
    if running:
        raise TapestryError(
            f"Parts of this site run on {', '.join(running)}.", hint="Stop them, and try again."
        )


def _lines(report: Report) -> list[str]:
    lines = [] if report.counts else [f"Nothing is stored in {services.data()}."]
    for kind, read in report.counts.items():
        damaged = sum(damage.kind == kind for damage in report.damages)
        state = f"{damaged} damaged" if damaged else "whole"
        counted = ", ".join(f"{number:,} {what}" for what, number in read.items())
        lines.append(f"{kind}: {state}" + (f" ({counted})" if counted else ""))
    return [*lines, *map(_sentence, report.damages)]


def _sentence(damage: Damage) -> str:
    path = Path(damage.path)
    if path.is_relative_to(services.data()):
        path = path.relative_to(services.data())
    return f"{path}: {damage.reason}; {damage.meaning}. What to do: {damage.remedy}."
