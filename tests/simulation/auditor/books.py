"""Address books and calendars: what stands of them is what servers and their owners say.

    cards and events of all sources ─┐
    contacts and files given by hand ┴─> all of that stands at rest, and nothing else does

Whoever takes a contact out by hand takes that of a source with it; whether it is there again once
the source says it anew, nobody can say here, until no source does.  A meeting that has begun stays
as it was.  Of a source that is paused, or has failed, nobody can say how far it has come.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from tests.simulation.auditor.findings import Finding, when
from tests.simulation.auditor.nodes import ANNOTATIONS
from tests.simulation.auditor.story import Entry, Known, Point, Row

LAW = "address books"
CONTACT, MEETING = "contact", "meeting"
PLACES = {"contact": "contacts", "meeting": "calendar", "cancelled": "calendar"}

Fact = tuple[str, str, Any]
"""Kind, value and start of an annotation."""


class Books:
    """What people keep by hand: whether each stands, None where nobody can say.

    ``taken`` is what was ever taken out by hand, ``unsure`` of that what sources may say.
    """

    def __init__(self) -> None:
        self.by_hand: dict[str, dict[Fact, bool | None]] = defaultdict(dict)
        self.taken: dict[str, set[Fact]] = defaultdict(set)
        self.unsure: dict[str, set[Fact]] = defaultdict(set)
        self.latest = 0

    def judge(self, point: Point, known: Known) -> Iterator[Finding]:
        """Judge what stands at a point."""
        for entry in point.entries:
            self.latest = max(self.latest, entry["now"])
            self._follow(entry)
        self.latest = max(self.latest, point.now)
        rows = point.rows("books")
        for person, told in sorted(known.people.items()):
            if rows is not None and not told.get("removed"):
                mine = [row for row in rows if row["person"] == person]
                yield from self._judge(point, person, mine, standing(known, person))

    def _follow(self, entry: Entry) -> None:
        match entry["what"], entry.get("kind"):
            case "act", "book":
                self._act(entry)
            case "upkeep", "restore":
                for person, kept in self.by_hand.items():
                    self.by_hand[person] = dict.fromkeys(kept)
                    self.unsure[person] |= self.taken[person]
            case "upkeep", "forget" if entry.get("before") is None:
                person = str(entry["audience"]).removeprefix("user:")
                self.by_hand[person] = dict.fromkeys(self.by_hand[person])

    def _act(self, entry: Entry) -> None:
        person, status = entry["person"], entry["status"]
        if status is not None and status >= 400:
            return
        kept, stated = self.by_hand[person], {_fact(fact) for fact in entry["says"]}
        gone = stated if entry["act"] == "remove" else set[Fact]()
        if entry["act"] == "replace":
            gone = {fact for fact in kept if fact[0] != CONTACT} - stated
        else:
            self.taken[person] |= gone
            self.unsure[person] |= gone
        for fact in stated | gone:
            kept[fact] = None if status is None else fact not in gone

    def _judge(
        self, point: Point, person: str, rows: list[Row], stands: set[Fact]
    ) -> Iterator[Finding]:
        says = {_fact(fact) for row in rows for fact in row["says"] if row["is_well"]}
        may = {_fact(fact) for row in rows for fact in (*row["says"], *row["may"])}
        is_well = all(row["is_well"] for row in rows)
        if is_well:
            self.unsure[person] &= may
        kept = self.by_hand[person]
        wanted = says - self.unsure[person] | {fact for fact, is_kept in kept.items() if is_kept}
        perhaps = may | wanted | self.unsure[person]
        perhaps |= {fact for fact, is_kept in kept.items() if is_kept is None}
        for fact in sorted(filter(self._comes, wanted - stands), key=str):
            yield Finding(LAW, f"{person} lacks the {_words(fact)}", point.step)
        for fact in sorted(filter(self._comes, stands - perhaps), key=str) if is_well else ():
            yield Finding(LAW, f"nobody says the {_words(fact)} of {person}", point.step)

    def _comes(self, fact: Fact) -> bool:
        """Tell whether it has not begun, by any clock so far."""
        return fact[2] is None or fact[2] > self.latest


def standing(known: Known, person: str) -> set[Fact]:
    """Return the contacts and meetings of a person that were not taken back."""
    rows = [row for row in known.rows[ANNOTATIONS].values() if row["owner"] == person]
    taken = {(row["value"], row["msgid"]) for row in rows if row["kind"] == "retraction"}
    return {
        (row["kind"], row["value"], row["starts"] if row["kind"] == MEETING else None)
        for row in rows
        if row["msgid"] == f"{PLACES.get(row['kind'])} of {person}"
        and row["audience"] == f"user:{person}"
        and (row["annid"], row["msgid"]) not in taken
    }


def _fact(fact: Any) -> Fact:
    kind, value, starts = fact
    return kind, value, starts


def _words(fact: Fact) -> str:
    kind, value, starts = fact
    return f"{kind} {value}" + (f" at {when(starts)}" if starts is not None else "")
