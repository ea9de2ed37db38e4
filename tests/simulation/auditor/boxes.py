"""What is put into people's own mailboxes: each match once, in the folder of its filter.

    <folder>/f      what the filter f has found          each of it once, in one of the two,
    <folder>/f/Left what has left the list of a live one   however often a connection was cut

A server can be asked what it has, so nothing is there twice, after a crash neither.  A message is
the one of a match if it has its Message-ID and says the same.  Its flags are those that it had in a
mailbox from which its reader alone has it: what others flagged is theirs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.simulation.auditor.came_in import message_id, says
from tests.simulation.auditor.findings import Finding, when
from tests.simulation.auditor.lives import Life
from tests.simulation.auditor.nodes import MESSAGES
from tests.simulation.auditor.shelves import Desks, root_of
from tests.simulation.auditor.story import Entry, Known, Point
from tests.simulation.auditor.timing import is_resting

LAW = "mailboxes"
OURS = "$TapestryDelivered"
OF_SITE = {"\\Seen", "\\Deleted", OURS}

Row = dict[str, Any]
Copy = tuple[str, Any]
"""A message in a mailbox: its Message-ID, and what it says."""


def copy_of(row: Row) -> Copy:
    """Return what a row, or what lies in a mailbox, is known again by."""
    return message_id(row["msgid"]), says(row)


@dataclass(slots=True)
class Place:
    """A destination that is a mailbox; ``unsure`` are filters that one of some has got or lost."""

    entry: Entry
    start: int
    unsure: set[int] = field(default_factory=set)

    def folder(self, filter_name: str, *more: str) -> str:
        return str(self.entry["delimiter"].join((self.entry["folder"], filter_name, *more)))

    def takes(self, key: int) -> bool:
        return self.entry["filters"] is None or key in self.entry["filters"]

    @property
    def name(self) -> str:
        return f"the mailbox {self.entry['key']} of {self.entry['person']}"


class Boxes:
    """All mailboxes that matches are put into, followed through the entries of a history."""

    def __init__(self, known: Known, desks: Desks) -> None:
        self.known, self.desks = known, desks
        self.places: dict[str, Place] = {}
        self.given: dict[Copy, set[str]] = defaultdict(set)
        self.flags: dict[tuple[str, Copy], set[str]] = defaultdict(set)
        self.changed, self.people = set[str](), set[str]()

    def judge(
        self, point: Point, lives: dict[int, Life], before: dict[str, frozenset[str]]
    ) -> Iterator[Finding]:
        """Judge what was put in up to a point, and what lies in the mailboxes at it.

        ``before`` is what each person could see at some time since the last point.
        """
        named = Counter(e["name"] for e in point.entries if e["what"] == "person")
        self.changed = {name for name in named if name in self.people or named[name] > 1}
        self.people |= {*named}
        for row in self.known.rows[MESSAGES].values():
            self.given[copy_of(row)].add(row["audience"])
        for entry in point.entries:
            self._follow(entry)
        for entry in point.entries:
            if entry["what"] == "received" and entry["endpoint"] == "imap":
                yield from self._put(point, entry, before)
        for entry in point.entries:
            if entry["what"] == "destination" and entry.get("how") == "deleted":
                self.places.pop(entry["uid"], None)  # what it was sent before was judged
        yield from self._twice(point)
        rows, states = point.rows("matches"), point.rows("destinations")
        if rows is not None and states is not None and point.seen.get("mailbox"):
            yield from self._complete(point, rows, {row["key"]: row for row in states}, lives)

    def _follow(self, entry: Entry) -> None:
        match entry["what"]:
            case "submitted" if entry["table"] == MESSAGES:
                for row in entry["rows"]:
                    self.given[copy_of(row)].add(row["audience"])
            case "mailbox" if entry["how"] in ("came", "flags"):
                for message in entry["messages"]:
                    self.flags[entry["owner"], copy_of(message)] |= {*message["flags"]}
            case "filter_changed":
                for place in self.places.values():
                    if place.entry["filters"] is not None:
                        place.unsure.add(entry["key"])
            case "destination" if entry.get("kind") == "mailbox":
                self.places[entry["uid"]] = Place(entry, entry["cursor"])
            case "upkeep" if entry["kind"] == "restore":
                for place in self.places.values():
                    place.start = 1 << 62  # nobody knows what the backup has brought back

    def _of(self, user: str) -> list[Place]:
        return [place for place in self.places.values() if place.entry["address"] == user]

    def _put(
        self, point: Point, entry: Entry, before: dict[str, frozenset[str]]
    ) -> Iterator[Finding]:
        """What was put in may be seen by its reader, came when they do not rest, and is marked.

        What is moved was there: it may be another copy of what is found now.
        """
        message, places = entry["payload"], self._of(entry["recipient"])
        if not places:
            said = f"{message['msgid']} was put into {entry['recipient']}, where nobody wants it"
            yield Finding(LAW, said, point.step)
            return
        person = places[0].entry["person"]
        said = f"{message['msgid']} was put into {entry['folder']} of {person}"
        if entry["how"] != "append":
            return
        may_see = self.known.audiences(person) | before.get(person, frozenset())
        of = self.given.get(copy_of(message), set())
        if not of & may_see:
            whose = ", ".join(sorted(of)) or "nobody"
            yield Finding(LAW, f"{said}, which is for {whose}", point.step)
        rests = is_resting(self.known.people.get(person, {}), entry["now"])
        if rests and person not in self.changed:
            yield Finding(LAW, f"{said} at {when(entry['now'])}, in a rest", point.step)
        if places[0].entry["keywords"] and OURS not in message["flags"]:
            yield Finding(LAW, f"{said} without a mark that it was", point.step)
        strange = {*message["flags"]} - OF_SITE - self.flags[person, copy_of(message)]
        if strange:
            yield Finding(LAW, f"{said} with flags that it never had: {strange}", point.step)

    def _twice(self, point: Point) -> Iterator[Finding]:
        for look in point.seen.get("mailbox", []):
            for place in self._of(look["user"]):
                for name in sorted(look["folders"]):
                    if not name.startswith(place.folder("")):
                        continue
                    there = _lying(look, name, place.entry["delimiter"] + "Left")
                    for copy in sorted({copy for copy in there if there.count(copy) > 1}, key=str):
                        said = f"{copy[0]} lies {there.count(copy)} times in {name}"
                        yield Finding(LAW, f"{said} of {look['user']}", point.step)

    def _complete(
        self, point: Point, rows: list[Row], states: dict[int, Row], lives: dict[int, Life]
    ) -> Iterator[Finding]:
        """All that was released lies there, as far as each destination has come."""
        looks = {look["user"]: look for look in point.seen["mailbox"]}
        stay = {self._copy(row) for row in rows if row["retracted_at"] is None}
        for place in self.places.values():
            state, look = states.get(place.entry["key"]), looks.get(place.entry["address"])
            if state is None or look is None or not state["active"]:
                continue
            if state["due_at"] is not None and state["due_at"] <= point.now:
                said = f"{place.name} is due since {when(state['due_at'])} and waits"
                yield Finding(LAW, said, point.step)
            for row in rows:
                life = lives.get(row["filter"])
                # The same bytes lie there for others, too: one may have left, and another not.
                stays = row["retracted_at"] is not None and self._copy(row) in stay
                if life is not None and self._is_due(place, row, life) and not stays:
                    yield from self._lies(point, place, row, life, state, look)
            if place.start == 1 << 62:
                place.start = state["cursor"]

    def _copy(self, row: Row) -> tuple[int, Copy | None]:
        message = self.known.rows[MESSAGES].get((row["msgid"], row["audience"]))
        return row["filter"], None if message is None else copy_of(message)

    def _is_due(self, place: Place, row: Row, life: Life) -> bool:
        """Return whether a match has to be there, or to have left, for certain."""
        person, position = place.entry["person"], row["sequence"]
        desk = self.desks.of(person)
        return (
            position is not None
            and position > place.start
            and life.entry["owner"] == person
            and place.takes(row["filter"])
            and row["filter"] not in place.unsure
            and person not in self.changed
            and row["audience"] in self.known.audiences(person)
            and (row["msgid"], row["audience"]) in self.known.rows[MESSAGES]
            and not (
                row["retracted_at"] is None
                and desk.muted
                and root_of(self.known, person, row["msgid"]) in (None, *desk.muted)
            )
        )

    def _lies(
        self, point: Point, place: Place, row: Row, life: Life, state: Row, look: Entry
    ) -> Iterator[Finding]:
        name, left = life.entry["name"], row["retracted_at"] is not None
        said = f"{row['msgid']} of filter {row['filter']} at {row['sequence']}"
        if row["sequence"] > state["cursor"]:
            if state["due_at"] is None:
                said += f" waits for {place.name}, which is not due"
                yield Finding(LAW, said, point.step)
            return
        _, wanted = self._copy(row)
        copies = _lying(look, place.folder(name))
        there = wanted in copies
        if not left and self.known.has_forgotten:
            # What was put in may have been forgotten since; the match lives on by another copy.
            there = any(copy[0] == message_id(row["msgid"]) for copy in copies)
        if left and there:
            yield Finding(LAW, f"{said} has left, and lies in {place.folder(name)}", point.step)
        elif not left and not there:
            yield Finding(LAW, f"{said} does not lie in {place.folder(name)}", point.step)


def _lying(look: Entry, name: str, below: str = "") -> list[Copy]:
    """Return what lies in a folder, and in the one below it if there is a name for that."""
    names = {name, name + below}
    return [
        copy_of(message)
        for at in sorted(names)
        for message in look["folders"].get(at, [])
        if "\\Deleted" not in message["flags"]
    ]
