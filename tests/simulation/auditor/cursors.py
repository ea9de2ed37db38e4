"""Programs that read filters by a cursor: they are told each match once, and lack none.

    insert ─> in the list, as of a ``matched_at``: not told again but as of another
    delete ─> not in the list
    at the end of a settled point ─> what they have is what the filter has released

Of a filter that forgets what it has found, or whose owner sees other mail, a program is told
nothing of what is gone: one that read it before is not judged any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.simulation.auditor.findings import Finding
from tests.simulation.auditor.lives import Life
from tests.simulation.auditor.story import Entry, Known, Point

LAW = "since a cursor"


@dataclass(slots=True)
class Reader:
    """A program that reads a filter of somebody: what it has, by when that matched."""

    key: int
    person: str
    has: dict[str, str] = field(default_factory=dict)


class Readers:
    """All programs that read, followed through a history; ``unsure`` are not judged any more."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.readers: dict[int, Reader] = {}
        self.unsure: set[int] = set()
        self.groups: dict[str, list[str]] = {}

    def judge(self, point: Point, lives: dict[int, Life]) -> Iterator[Finding]:
        """Judge what programs were told up to a settled point, and what they have at it."""
        for entry in point.entries:
            self._disturb(entry)
            if entry["what"] == "steps":
                yield from self._read(point, entry)
        for look in point.seen.get("steps", []):
            yield from self._read(point, look)
            if look["is_end"] and look["filter"] in lives and look["reader"] not in self.unsure:
                yield from self._whole(point, self.readers[look["reader"]])

    def _disturb(self, entry: Entry) -> None:
        match entry["what"]:
            case "upkeep" if entry["kind"] in ("forget", "restore"):
                self.unsure |= self.readers.keys()
            case "person" if self.groups.get(entry["name"]) != entry["groups"]:
                self.groups[entry["name"]] = list(entry["groups"])
                self.unsure |= {n for n, r in self.readers.items() if r.person == entry["name"]}
            case "filter_changed" if entry.get("forget") or entry["how"] in ("delete", "mode"):
                self.unsure |= {n for n, r in self.readers.items() if r.key == entry["key"]}

    def _read(self, point: Point, entry: Entry) -> Iterator[Finding]:
        new = Reader(entry["filter"], entry["person"])
        reader = self.readers.setdefault(entry["reader"], new)
        for op, msgid, at in entry["steps"]:
            if op == "delete":
                reader.has.pop(msgid, None)
                continue
            if reader.has.get(msgid) == at and entry["reader"] not in self.unsure:
                said = f"a program of {reader.person} is told twice of {msgid} in filter"
                yield Finding(LAW, f"{said} {reader.key}", point.step)
            reader.has[msgid] = at

    def _whole(self, point: Point, reader: Reader) -> Iterator[Finding]:
        """What a program has is what was released, but for what is to be released anew."""
        audiences = self.known.audiences(reader.person)
        rows = [row for row in point.rows("matches") or [] if row["filter"] == reader.key]
        waits = {row["msgid"] for row in rows if row["sequence"] is None}
        wanted = {
            row["msgid"]
            for row in rows
            if row["listed"] and row["retracted_at"] is None and row["audience"] in audiences
        }
        has = set(reader.has)
        for said, msgids in (("lacks", wanted - has), ("still has", has - wanted)):
            if others := sorted(msgids - waits):
                said = f"a program of {reader.person} {said} {', '.join(others)} of filter"
                yield Finding(LAW, f"{said} {reader.key}", point.step)
