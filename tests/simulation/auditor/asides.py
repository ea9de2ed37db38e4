"""The law of what is set aside: nothing is, and no part of the index is worked around.

Where the site goes on all the same, by another way or a later try, the error would stay unseen.
What the engine was to break on, as it was planned, may be set aside; so may a step of the upkeep
of which a write was to fail.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.simulation.auditor.findings import Finding
from tests.simulation.auditor.story import Point

LAW = "set aside"
PLANNED = "fired broken"
WRITES = {"fired io_error", "fired disk_full", "fired link_error"}


class Asides:
    """What was set aside so far: each thing, since when, and after how many tries."""

    def __init__(self) -> None:
        self.seen: set[tuple[str, str, int, int]] = set()

    def judge(self, point: Point) -> Iterator[Finding]:
        """Judge what was set aside since the last point, or once more."""
        fired = {entry["kind"] for entry in point.entries if entry["what"] == "fault"}
        for row in point.rows("asides") or []:
            tried = (row["kind"], row["key"], row["first_at"], row["attempts"])
            planned = PLANNED in fired or (row["kind"] == "step" and fired & WRITES)
            if tried not in self.seen and not planned:
                said = f"{row['kind']} {row['key']} was set aside, for {row['error_class']}"
                yield Finding(LAW, said, point.step)
            self.seen.add(tried)
