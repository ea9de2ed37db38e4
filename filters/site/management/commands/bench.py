"""`manage.py bench NAME`: measure something, on data of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

from django.core.management.base import CommandParser

from filters.site.launch.stack import Interrupted, interruptible
from filters.site.management.base import TapestryCommand
from tapestry.core.errors import TapestryError

try:
    from tests.bench import BENCHES
except ModuleNotFoundError as error:
    if error.name not in ("tests", "tests.bench"):
        raise
    BENCHES = {}

MARK = "TAPESTRY_BENCH"
"""Set in the process that measures: its data directory is fresh and will be deleted."""


class Command(TapestryCommand):
    """Measure something, in a process and on a data directory that end with it."""

    help = "Measure: " + "; ".join(f"{name}: {bench.SUMMARY}" for name, bench in BENCHES.items())
    needs_database = MARK in os.environ

    def add_arguments(self, parser: CommandParser) -> None:
        if not BENCHES:
            raise TapestryError(
                "What measures is in the repository of Tapestry, not in what was installed.",
                hint="Run there: make bench",
            )
        names = parser.add_subparsers(dest="name", metavar="NAME", required=True)
        for name, bench in BENCHES.items():
            options = names.add_parser(name, help=bench.SUMMARY)
            options.add_argument("--json", action="store_true", help="one JSON object")
            options.add_argument("--record", action="store_true", help="write it to FIGURES.md")
            bench.add_arguments(options)

    def handle(self, *args: Any, **options: Any) -> None:
        """Measure and print the figures."""
        if MARK not in os.environ:
            sys.exit(_measure_elsewhere())
        from tests.bench.support.record import FIGURES, record, rows_of

        name, bench = options["name"], BENCHES[options["name"]]
        figures = bench.measure(options)
        if options["record"]:
            record(FIGURES, name, sys.argv[3:], rows_of(bench.FIGURES, figures))
        if options["json"]:
            self.stdout.write(json.dumps({"bench": name, **figures}))
            return
        self.stdout.write(f"{name}: {bench.SUMMARY}")
        for figure, value in figures.items():
            self.stdout.write(f"  {figure:<20} {value}")


def _measure_elsewhere() -> int:
    addresses = ("DATABASE_URL", "REDIS_URL", "SPARK_REMOTE")
    kept = {name: value for name, value in os.environ.items() if name not in addresses}
    command = [sys.executable, *sys.orig_argv[1:]]
    try:
        with interruptible(), tempfile.TemporaryDirectory(prefix="tapestry-bench-") as data:
            environment = kept | {MARK: "1", "TAPESTRY_DATA": data}
            return subprocess.run(command, env=environment, check=False).returncode
    except Interrupted:
        return 130
