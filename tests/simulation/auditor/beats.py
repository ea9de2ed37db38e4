"""Beats: all that a webhook is promised to have been sent by then has been, at rest nothing waits.

What is shown later than the beat, at a time that its person chose, is excused; so is all while a
delivery comes later.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.simulation.auditor.findings import Finding, when
from tests.simulation.auditor.story import Entry, Point
from tests.simulation.auditor.transmissions import instant_told

LAW = "beats"

OTHER_DELIVERIES = (" delivery comes ", " deliveries come ")
"""Words of what a beat says comes later."""


def judge_beats(point: Point) -> Iterator[Finding]:
    """Judge the beats of each webhook, and what it took after them while nobody did anything."""
    shown = {row["sequence"]: row["shown_at"] for row in point.rows("matches") or []}
    promises: dict[str, Entry] = {}
    last: dict[str, Entry] = {}
    for entry in point.entries:
        if entry["what"] == "settling":
            promises.clear()
        elif entry["what"] == "received" and entry["endpoint"] == "http":
            path, payload = entry["path"], entry["payload"]
            if "complete_until" in payload:
                last[path] = payload
                later = " ".join(payload["later"])
                if payload["complete_until"] and not any(
                    word in later for word in OTHER_DELIVERIES
                ):
                    promises[path] = entry
            elif entry["accepted"] and path in promises:
                yield from _late(point, promises[path], payload, shown)
    for path, payload in last.items():
        if payload["waits_for"]:
            yield Finding(
                LAW, f"{path} is told at rest: {' '.join(payload['waits_for'])}", point.step
            )


def _late(point: Point, beat: Entry, payload: Entry, shown: dict[int, int]) -> Iterator[Finding]:
    until = instant_told(beat["payload"]["complete_until"]) or 0
    for match in payload["matches"]:
        at = instant_told(match["matched_at"]) or 0
        was_due = shown.get(match["sequence"], beat["now"] + 1) <= beat["now"]
        if match["op"] == "insert" and at <= until and was_due:
            words = f"{beat['path']} was told to have all until {when(until)}, and then sent"
            yield Finding(LAW, f"{words} {match['msgid']}, of {when(at)}", point.step)
