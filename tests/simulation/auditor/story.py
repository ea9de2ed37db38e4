"""A history as points: what happened up to a settled moment, and what was seen then.

Entries are as ``simulation/history.py`` says; unknown ones are passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.simulation.auditor.nodes import ANNOTATIONS, MESSAGES, THREADS

Entry = dict[str, Any]
Row = dict[str, Any]


@dataclass(slots=True)
class Point:
    """A settled moment: the entries since the last one, and what was seen of the site."""

    step: int
    now: int
    entries: list[Entry]
    seen: dict[str, list[Entry]] = field(default_factory=dict)

    def rows(self, kind: str, **having: Any) -> list[Row] | None:
        """Return the rows of a kind of observation; None if nobody looked."""
        found = None
        for entry in self.seen.get(kind, []):
            if all(entry.get(name) == value for name, value in having.items()):
                found = entry["rows"]
        return found

    def one(self, kind: str) -> Entry | None:
        """Return the last observation of a kind."""
        looks = self.seen.get(kind)
        return looks[-1] if looks else None


def points(entries: Iterable[Entry]) -> Iterator[Point]:
    """Yield the settled moments of a history, with all that was seen at each.

    What was written down between a settled moment and the first look is part of that moment.

    >>> story = [{"what": what, "step": 1, "now": 5} for what in ("act", "settled", "fault")]
    >>> [(point.now, len(point.entries)) for point in points(story)]
    [(5, 2)]
    """
    waiting: list[Entry] = []
    point: Point | None = None
    for entry in entries:
        if entry["what"] == "settled":
            if point is not None:
                yield point
            point = Point(entry["step"], entry["now"], waiting)
            waiting = []
        elif entry["what"] == "seen" and point is not None:
            point.seen.setdefault(entry["kind"], []).append(entry)
        elif point is not None and not point.seen:  # told before anybody looked
            point.entries.append(entry)
        else:
            waiting.append(entry)
    if point is not None:
        yield point


def audiences_of(person: Entry | None, name: str) -> frozenset[str]:
    """Return what a person may see: public, their own mail, that of their groups."""
    groups = person["groups"] if person else ()
    return frozenset({"public", f"user:{name}", *(f"group:{group}" for group in groups)})


class Known:
    """All that is known at a point: people, and the rows of the tables as they were last seen."""

    def __init__(self) -> None:
        self.people: dict[str, Entry] = {}
        self.rows: dict[str, dict[tuple[str, str], Row]] = {MESSAGES: {}, ANNOTATIONS: {}}
        self.imported: dict[tuple[str, str], str] = {}
        self.pulled: set[tuple[str, str]] = set()
        self.facts: list[Row] = []
        self.roots: dict[tuple[str, str], set[str]] = {}
        self.joined: set[str] = set()
        self.newest, self.has_forgotten = 0, False

    def look(self, point: Point) -> None:
        """Take in the rows that were seen, and which of them were imported."""
        for entry in point.entries:
            self.has_forgotten |= entry["what"] == "upkeep" and entry["kind"] == "forget"
            if entry["what"] == "submitted" and entry.get("origin") == "archive":
                for row in entry["rows"]:
                    self.imported[row["msgid"], row["audience"]] = entry["name"]
            elif entry["what"] == "submitted" and entry.get("origin") == "mailbox":
                self.pulled |= {(row["msgid"], row["audience"]) for row in entry["rows"]}
        for table, key in ((MESSAGES, "msgid"), (ANNOTATIONS, "annid")):
            rows = point.rows("rows", table=table)
            if rows is not None:
                self.rows[table] = {(row[key], row["audience"]): row for row in rows}
        self.facts = point.rows("rows", table=THREADS) or []
        self._look_at_threads()
        stamps = (row["ts"] for rows in self.rows.values() for row in rows.values())
        self.newest = max(stamps, default=0)

    def _look_at_threads(self) -> None:
        """Take in the threads of each copy, and the names of those that are one with others."""
        self.roots = {}
        for copy, row in () if self.facts else self.rows[MESSAGES].items():
            if row["references"] or not row["inreplyto"]:
                self.roots[copy] = {str(next(iter(row["references"]), row["msgid"]))}
        for row in self.facts:
            self.roots.setdefault((row["msgid"], row["audience"]), set()).add(row["root"])
        names = {row["root"] for row in self.facts}
        self.joined = {root for roots in self.roots.values() if len(roots) > 1 for root in roots}
        for row in self.facts:
            if row["msgid"] in names and row["root"] != row["msgid"]:
                self.joined |= {row["msgid"], row["root"]}

    def audiences(self, name: str) -> frozenset[str]:
        return audiences_of(self.people.get(name), name)

    def has_copy(self, msgid: str, audiences: frozenset[str]) -> bool:
        """Return whether somebody in these audiences sees a message."""
        there = self.rows[MESSAGES]
        return any((msgid, audience) in there for audience in audiences)
