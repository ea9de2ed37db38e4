"""Release: each match gets one position, not before it is shown; then it is sent, or waited with.

A match that is released has a position that no other has, and another one once it leaves a list or
comes back.  A destination for which nothing is due,
and nothing is held, has been sent all positions of its filters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.simulation.auditor.deliveries import Deliveries
from tests.simulation.auditor.findings import Finding, when
from tests.simulation.auditor.lives import Life
from tests.simulation.auditor.story import Point, Row

LAW = "releases"


class Releases:
    """The latest instant that a site's clock has shown: it may be set back since."""

    def __init__(self) -> None:
        self.latest = 0
        self.before: dict[int, Row] = {}

    def judge(
        self, point: Point, lives: dict[int, Life], deliveries: Deliveries
    ) -> Iterator[Finding]:
        """Judge the positions of all matches at a settled point."""
        self.latest = max([self.latest, point.now, *(entry["now"] for entry in point.entries)])
        rows = [row for row in point.rows("matches") or [] if row["sequence"] is not None]
        counts = Counter(row["sequence"] for row in rows)
        for position, count in sorted(counts.items()):
            if count > 1:
                yield Finding(LAW, f"{count} matches have position {position}", point.step)
        for row in rows:
            if row["shown_at"] > max(self.latest, row["stored_at"]):
                said = f"{row['msgid']} of filter {row['filter']} has position {row['sequence']}"
                said += f", and is to be shown at {when(row['shown_at'])}"
                yield Finding(LAW, said, point.step)
        if not any(entry.get("kind") == "restore" for entry in point.entries):
            yield from self._kept(point, rows)
        self.before = {row["key"]: row for row in rows}
        yield from self._waiting(point, rows, lives, deliveries)

    def _kept(self, point: Point, rows: list[Row]) -> Iterator[Finding]:
        """What has left a list, or come back to it, does not stand where it stood."""
        for row in rows:
            before = self.before.get(row["key"])
            if before is None or before["sequence"] != row["sequence"]:
                continue
            moved = [name for name in ("stored_at", "retracted_at") if before[name] != row[name]]
            if moved:
                said = f"{row['msgid']} of filter {row['filter']} has another {moved[0]}, and its"
                yield Finding(LAW, f"{said} old position {row['sequence']}", point.step)

    def _waiting(
        self, point: Point, rows: list[Row], lives: dict[int, Life], deliveries: Deliveries
    ) -> Iterator[Finding]:
        states = {row["key"]: row for row in point.rows("destinations") or []}
        for route in deliveries.routes.values():
            entry, state = route.entry, states.get(route.entry["key"])
            if state is None or not state["active"] or state["due_at"] is not None:
                continue
            for row in rows:
                life = lives.get(row["filter"])
                mine = life is not None and life.entry["owner"] == entry["person"]
                goes = mine and route.takes(row["filter"]) and row["filter"] not in route.unsure
                if goes and row["sequence"] > max(state["cursor"], entry["cursor"]):
                    said = (
                        f"{row['msgid']} of filter {row['filter']} at {row['sequence']} waits for"
                    )
                    said += f" the {entry['kind']} {entry['key']}, which is not due"
                    yield Finding(LAW, said, point.step)
                    break
