"""Two worlds: mail that somebody may not see changes nothing of what they see.

Given the history of a world, and that of the same world without the mail, the annotations and the
doings that are hidden from a person, all that this person is shown and sent is equal.  What counts
for all people is not: keys, positions, and the last microseconds of instants, which tell one append
from the next.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from tests.simulation.auditor.findings import Finding, when
from tests.simulation.auditor.story import Entry, Point, points
from tests.simulation.auditor.transmissions import read_transmission

LAW = "two worlds"
CLOSE = 10_000
"""Microseconds by which the appends of others may move an instant."""

_OF_MATCH = ("msgid", "audience", "matched_at", "retracted_at", "shown_at", "read_at")

View = dict[str, Any]


def differences(one: Iterable[Entry], other: Iterable[Entry], person: str) -> list[Finding]:
    """Return where a person is shown something else in the one world than in the other."""
    found: list[Finding] = []
    left, right = _Eyes(person), _Eyes(person)
    for here, there in zip(points(one), points(other), strict=True):
        for (name, mine), (_, theirs) in zip(
            sorted(left.view(here).items()), sorted(right.view(there).items()), strict=True
        ):
            if not _alike(mine, theirs):
                said = f"{name} of {person} differs: {_shown(mine)} and {_shown(theirs)}"
                found.append(Finding(LAW, said, here.step))
    return found


class _Eyes:
    """What one person is shown at each settled point of a world."""

    def __init__(self, person: str) -> None:
        self.person = person
        self.filters: dict[int, str] = {}
        self.uids: dict[str, str] = {}

    def view(self, point: Point) -> View:
        sent: dict[str, list[Any]] = {}
        for entry in point.entries:
            mine = self.person in (entry.get("owner"), entry.get("person"))
            if entry["what"] == "filter" and mine:
                self.filters[entry["key"]] = entry["name"]
            elif entry["what"] == "destination" and mine and "uid" in entry:
                self.uids[entry["uid"]] = entry.get("name", "")
            elif entry["what"] == "received" and entry.get("accepted", True):
                delivery = read_transmission(entry)
                if delivery is not None and delivery.uid in self.uids:
                    items = [(delivery.kind, item.msgid, item.op) for item in delivery.items]
                    deliveries = sent.setdefault(self.uids[delivery.uid], [])
                    deliveries += [*items, _said(entry["payload"])]
        matches = [
            (self.filters[row["filter"]], *(row[name] for name in _OF_MATCH))
            for row in point.rows("matches") or []
            if row["filter"] in self.filters
        ]
        pages = {
            f"the page {look['page']} {look.get('name', '')}": (look["status"], look["msgids"])
            for look in point.seen.get("page", [])
            if look["person"] == self.person
        }
        key = ("matches", sorted(matches, key=str)), ("what was sent", sent)
        return dict(key) | {"pages": pages}


def _said(payload: Entry) -> Any:
    """Return the words of what was sent; its links name keys."""
    if "matches" in payload:
        return [
            [match.get(name) for name in ("why", "title", "op")] for match in payload["matches"]
        ]
    words = [str(payload.get(name, "")) for name in ("title", "body", "text")]
    return re.sub(r"https?://\S+", "", "\n".join(words))


def _alike(one: Any, other: Any) -> bool:
    """Return whether two views are equal, but for the last microseconds of instants."""
    if isinstance(one, bool) or not isinstance(one, int):
        if isinstance(one, dict) and isinstance(other, dict):
            return one.keys() == other.keys() and all(_alike(one[k], other[k]) for k in one)
        if isinstance(one, list | tuple) and isinstance(other, list | tuple):
            return len(one) == len(other) and all(map(_alike, one, other))
        return bool(one == other)
    return isinstance(other, int) and abs(one - other) <= CLOSE


def _shown(view: Any) -> str:
    if isinstance(view, int) and not isinstance(view, bool) and view > 1 << 40:
        return when(view)
    return json.dumps(view, ensure_ascii=False, default=str)[:600]
