"""How many messages a second are taken in."""

from __future__ import annotations

import resource
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from filters.runs.store.filter_store import DjangoClock
from filters.site.work.parts import services
from tapestry.core.clock import wall_clock
from tests.bench.support import mail

SUMMARY = "messages per second from an archive into the tables"

FIGURES = {
    "ingest {messages:,} messages into a table of {before:,}": "{per_second:,} messages/s",
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--mbox", "--archive", metavar="WHAT", help="anything `ingest` takes in")
    parser.add_argument("--messages", type=int, default=20_000, help="of the sample, without it")
    parser.add_argument("--before", type=int, default=0, help="messages in the table already")


def measure(options: dict[str, Any]) -> dict[str, float | int | str]:
    """Return what `ingest` reports of an archive, and its peak memory."""
    from filters.sample.letter import Letter, to_mbox
    from filters.sample.story import story
    from tests.support.intake import ingest

    what = options["mbox"]
    if what is None:
        mbox = Path(services.data()) / "sample.mbox"
        events = story(wall_clock(), options["messages"])
        with mbox.open("wb") as file:
            file.writelines(to_mbox(e.what) for e in events if isinstance(e.what, Letter))
        what = str(mbox)
    if options["before"]:
        mail.fill(services.tables(), options["before"], 1)
    report = ingest(what, services.tables(), DjangoClock())
    return {
        "messages": report.read,
        "added": report.added,
        "duplicates": report.duplicates,
        "broken": report.broken,
        "before": options["before"],
        "seconds": round(report.seconds, 2),
        "per_second": round(report.read / report.seconds),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
