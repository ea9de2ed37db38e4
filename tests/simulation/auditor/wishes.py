"""What was asked for as a filter was written or changed, and was answered, is so from then on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.simulation.auditor.findings import Finding
from tests.simulation.auditor.story import Entry, Point

LAW = "wishes"
DONE = 302
"""The status of an answer that says that it was done."""


def judge_wishes(point: Point) -> Iterator[Finding]:
    """Judge what was stored of filters as they were written and changed before a settled point."""
    for entry in point.entries:
        asked, status = entry.get("asked"), entry.get("status", DONE)
        if entry["what"] not in ("filter", "filter_changed") or not asked or status != DONE:
            continue
        for name, (wanted, stored) in _wishes(asked, entry).items():
            if wanted != stored:
                said = f"the filter {entry['key']} was asked for with {name} {wanted!r}, and has"
                yield Finding(LAW, f"{said} {stored!r}", point.step)


def _wishes(asked: Entry, entry: Entry) -> dict[str, tuple[Any, Any]]:
    """Return what was asked for, and what is stored, by name."""
    return {
        "existing mail": (asked["mail"] == "existing", entry["t0"] is None),
        "live": (asked["mode"] == "live", bool(entry["live"])),
        "timeliness": (asked["timeliness"], entry["timeliness"]),
        "visibility": (asked["visibility"], entry["visibility"]),
        "acts": (set(asked.get("acts", ())), set((entry.get("acts") or "").split())),
        "while_unread": ("while_unread" in asked, bool(entry["while_unread"])),
    }
