"""How many messages a second go into the tables."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SAYS = "messages per second from an archive into the tables"


def add_arguments(parser: ArgumentParser) -> None:
    """Declare --archive and --messages."""
    parser.add_argument("--archive", metavar="WHAT", help="anything that `ingest` takes in")
    parser.add_argument("--messages", type=int, default=20_000, help="of the sample, without it")


def measure(options: Mapping[str, Any]) -> dict[str, float | int | str]:
    """Return what `ingest` reports of an archive, on fresh tables."""
    from filters import parts
    from filters.sample.letter import Letter, to_mbox
    from filters.sample.story import story
    from filters.stores import DjangoClock
    from tapestry.core.clock import wall_clock
    from tapestry.ingest.pull import ingest

    what = options["archive"]
    if what is None:
        mbox = Path(parts.data()) / "sample.mbox"
        events = story(wall_clock(), options["messages"])
        with mbox.open("wb") as file:
            file.writelines(to_mbox(e.what) for e in events if isinstance(e.what, Letter))
        what = str(mbox)
    report = ingest(what, parts.tables(), DjangoClock())
    return {
        "messages": report.read,
        "added": report.added,
        "duplicates": report.duplicates,
        "broken": report.broken,
        "seconds": round(report.seconds, 2),
        "messages_per_second": round(report.read / report.seconds),
    }
