"""`manage.py doctor`: whether this machine has what Tapestry needs, and what to do."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from filters.site.launch.doctor import examine
from filters.site.management.base import TapestryCommand


class Command(TapestryCommand):
    """Check memory, disk, port, Java, clock, servers and names; end with 1 if any is not well."""

    help = "Check this machine and what the settings name, and say what to do; nothing is changed."
    needs_database = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="of the web pages")
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        findings = examine(options["port"])
        for finding in findings:
            mark = "ok" if finding.is_well else "BAD"
            line = f"{mark:4}{finding.name:10}{finding.says}"
            self.stdout.write(json.dumps(asdict(finding)) if options["json"] else line)
        if not all(finding.is_well for finding in findings):
            sys.exit(1)
