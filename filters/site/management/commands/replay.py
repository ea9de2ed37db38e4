"""`manage.py replay`: filters over tables in files, without a database or services."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from filters.site.management.base import TapestryCommand, instant
from tapestry.plan.engine import Engine
from tapestry.run.replay import replay
from tapestry.tables.delta.log import Snapshot


class Command(TapestryCommand):
    """Print one JSON line for each match of each window."""

    help = "Run the filters of a file over messages.jsonl and annotations.jsonl, window by window."
    needs_database = False
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--data", type=Path, required=True, metavar="DIR")
        parser.add_argument("--filters", type=Path, required=True, metavar="FILE")
        parser.add_argument("--at", type=_instants, required=True, metavar="T1,T2,…")
        parser.add_argument("--rule", choices=["fast", "general"], default="fast")
        parser.add_argument(
            "--deltas",
            choices=["transactional", "compressed"],
            help="print what the answers gain and lose: every change, or each window's net change",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        lines = replay(
            _engine_on,
            options["data"],
            options["filters"],
            options["at"],
            options["rule"],
            options["deltas"],
        )
        for line in lines:
            self.stdout.write(json.dumps(line, ensure_ascii=False))


def _instants(text: str) -> list[int]:
    return [instant(part) for part in text.split(",")]


def _engine_on(snapshot: Snapshot) -> Engine:
    """Return an engine on the server that SPARK_REMOTE names, else on a Spark of one's own."""
    from tapestry.spark.engine import SparkEngine
    from tapestry.spark.session import LOCAL, connect

    return SparkEngine(connect(os.environ.get("SPARK_REMOTE") or LOCAL), snapshot)
