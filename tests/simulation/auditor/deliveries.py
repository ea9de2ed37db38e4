"""What leaves the system: each match once by each destination, in order, when and to whom it may.

A match has a position as it is released.  A destination gets the positions of its filters after the
one at which it was made.  Forwards and digests may come twice, under one Message-ID, if an answer
was lost; webhooks under one key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.simulation.auditor.digests import is_in_flood, judge_digest
from tests.simulation.auditor.findings import Finding, when
from tests.simulation.auditor.lives import CLOSE, Life
from tests.simulation.auditor.plans import LAW, Plans
from tests.simulation.auditor.shelves import Desks, root_of
from tests.simulation.auditor.story import Entry, Known, Point
from tests.simulation.auditor.timing import HELD, is_resting
from tests.simulation.auditor.transmissions import Transmission, instant_told, read_transmission

RESTORED = 1 << 62
"""The position of what was sent, while nobody knows what a backup has brought back."""

MEANS_ANEW = ("edit", "mode", "mail", "recompiled")
"""Changes of a filter after which what it has found may be of another instant."""

Row = dict[str, Any]


@dataclass(slots=True)
class Route:
    """A destination, and what it has been sent so far."""

    entry: Entry
    sent: dict[str, Transmission] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)
    until: int = 0
    judged: int = 0
    unsure: set[int] = field(default_factory=set)

    def takes(self, key: int) -> bool:
        """Return whether the matches of a filter of its owner go to it."""
        filters = self.entry["filters"]
        return filters is None or key in filters


class Deliveries:
    """All destinations, followed through the entries of a history."""

    def __init__(self, known: Known, desks: Desks) -> None:
        self.known, self.desks = known, desks
        self.routes: dict[str, Route] = {}
        self.plans = Plans(known)
        self.people: dict[str, Entry] = {}
        self.faults = 0
        self.forgot = False
        self.changed = set[int]()
        self.number = 0

    def judge(
        self, point: Point, lives: dict[int, Life], before: dict[str, frozenset[str]]
    ) -> Iterator[Finding]:
        """Judge what was sent up to a point, and that nothing is missing at it.

        ``before`` is what each person could see at some time since the last point.
        """
        rows = point.rows("matches")
        if rows is None:
            return
        by_position = {row["sequence"]: row for row in rows if row["sequence"] is not None}
        self.changed = {
            entry["key"]
            for entry in point.entries
            if entry["what"] == "filter_changed" and entry["how"] in MEANS_ANEW
        }
        # Who has left a group finds anew, by what is left to see.
        left = {name for name, seen in before.items() if seen - self.known.audiences(name)}
        self.changed |= {key for key, life in lives.items() if life.entry["owner"] in left}
        for entry in point.entries:
            self.forgot |= entry["what"] == "upkeep" and entry["kind"] in ("forget", "restore")
        self.plans.follow(point, lives)
        self.number = self.desks.number - len(point.entries)
        restored = _last_restore(point.entries)
        for index, entry in enumerate(point.entries):
            self.number += 1
            released = by_position if index > restored else {}  # what was, a backup has undone
            yield from self._follow(point, entry, lives, released, before)
        yield from self._told(point, rows, lives)
        yield from self._complete(point, rows, lives)
        yield from self.plans.judge(point, rows, lives)
        self.forgot = False

    def _follow(
        self,
        point: Point,
        entry: Entry,
        lives: dict[int, Life],
        by_position: dict[int, Row],
        before: dict[str, frozenset[str]],
    ) -> Iterator[Finding]:
        match entry["what"]:
            case "person":
                self.people[entry["name"]] = entry
            case "destination":
                self._destination(entry)
            case "fault" | "upkeep" | "error":
                self.faults += 1
                if entry.get("kind") == "restore":
                    for route in self.routes.values():
                        route.until, route.judged = 0, RESTORED
                        floods = [key for key, sent in route.sent.items() if sent.kind == "flood"]
                        for key in floods:
                            del route.sent[key]
            case "filter_changed":
                self.plans.replanned[entry["key"]] = HELD
                for route in self.routes.values():
                    if route.entry["filters"] is not None:
                        route.unsure.add(entry["key"])
            case "received" if entry.get("accepted", True):
                sent = read_transmission(entry)
                if sent is not None:
                    yield from self._sent(point, sent, lives, by_position, before)

    def _destination(self, entry: Entry) -> None:
        route = self.routes.get(entry["uid"])
        if entry.get("kind") == "mailbox":
            return  # judged by mailboxes.py
        if entry.get("how") == "deleted":
            self.routes.pop(entry["uid"], None)
        elif route is None:
            start = entry["cursor"]
            self.routes[entry["uid"]] = Route(entry, until=start, judged=start)
        else:
            old, new = route.entry["filters"] or [], entry["filters"] or []
            route.unsure.update(set(new) ^ set(old))
            route.entry = {**route.entry, **entry}

    def _sent(
        self,
        point: Point,
        sent: Transmission,
        lives: dict[int, Life],
        by_position: dict[int, Row],
        before: dict[str, frozenset[str]],
    ) -> Iterator[Finding]:
        route = self.routes.get(sent.uid)
        if route is None:
            said = f"{sent.key} went to {_place(sent.entry)} for no destination that is there"
            yield Finding(LAW, said, point.step)
            return
        person, name = route.entry["person"], f"{_name(route)}: {sent.key}"
        place = route.entry.get("address") or route.entry.get("url") or ""
        if not place.endswith(_place(sent.entry)):
            said = f"{name} went to {_place(sent.entry)}, and not to {place}"
            yield Finding(LAW, said, point.step)
        if sent.kind in ("digest", "flood"):
            yield from judge_digest(sent, route.sent.values(), name, point.step)
        earlier = route.sent.get(sent.key)
        if earlier is not None:
            disturbed = self.faults > route.faults[sent.key]
            yield from _again(point, name, earlier, sent, disturbed=disturbed)
        else:
            if sent.after < route.until and sent.kind not in ("note", "flood"):
                said = f"{name} came after position {route.until} had been sent: out of order"
                yield Finding(LAW, said, point.step)
            route.until = max(route.until, sent.until if sent.kind != "flood" else sent.after)
        route.sent[sent.key], route.faults[sent.key] = sent, self.faults
        if is_resting(self.people.get(person, {}), sent.entry["now"]):
            said = f"{name} came at {when(sent.entry['now'])}, while {person} rests"
            yield Finding(LAW, said, point.step)
        may_see = self.known.audiences(person) | before.get(person, frozenset())
        yield from self._contents(point, name, route, sent, may_see, lives, by_position)

    def _contents(
        self,
        point: Point,
        name: str,
        route: Route,
        sent: Transmission,
        may_see: frozenset[str],
        lives: dict[int, Life],
        by_position: dict[int, Row],
    ) -> Iterator[Finding]:
        """Each message of a delivery is one that was due then, and its owner's to see."""
        last = sent.after
        for item in sent.items:
            if item.audience and item.audience not in may_see:
                said = f"{name} has {item.msgid} of {item.audience}, which its owner may not see"
                yield Finding(LAW, said, point.step)
            position = sent.until if sent.kind == "forward" else item.position
            if position is None:
                continue
            if not last < position <= sent.until:
                said = f"{name} has {item.msgid} at {position}: out of order, or of another range"
                yield Finding(LAW, said, point.step)
            last = position
            row = by_position.get(position)
            if row is None or row["filter"] not in lives:
                continue
            life = lives[row["filter"]]
            if life.entry["owner"] != route.entry["person"] or (
                not route.takes(row["filter"]) and row["filter"] not in route.unsure
            ):
                said = f"{name} has {item.msgid} of filter {row['filter']}, which does not go there"
                yield Finding(LAW, said, point.step)
            if sent.kind == "webhook" and not _agrees(item.msgid, row["msgid"]):
                said = f"{name} has {item.msgid} at {position}, where {row['msgid']} was released"
                yield Finding(LAW, said, point.step)
            at = row["matched_at"] if row["retracted_at"] is None else row["retracted_at"]
            op = "insert" if row["retracted_at"] is None else "delete"
            told = dict(item.fields).get("matched_at")
            # It has come or left anew since, or its filter means something else.
            since = at > sent.entry["now"] + CLOSE or row["filter"] in self.changed
            wrong = instant_told(told) != at or item.op != op
            if sent.kind == "webhook" and wrong and not since and not self.forgot:
                said = (
                    f"{name} says {item.op} of {item.msgid} at {told}, and it is {op} at {when(at)}"
                )
                yield Finding(LAW, said, point.step)
        yield from self._too_early(point, name, route, sent, by_position)
        yield from self._muted(point, name, route, sent, by_position)
        if sent.kind == "digest":
            yield from self._elsewhere(point, name, route, sent, lives, by_position)
        if sent.kind == "forward":
            yield from self._in_flood(point, name, route, sent, lives, by_position)

    def _muted(
        self,
        point: Point,
        name: str,
        route: Route,
        sent: Transmission,
        by_position: dict[int, Row],
    ) -> Iterator[Finding]:
        """Nothing is sent of a thread that was muted before, but what left a list to programs."""
        person = route.entry["person"]
        desk = self.desks.of(person)
        for item in sent.items:
            position = sent.until if sent.kind == "forward" else item.position
            row = by_position.get(position) if position is not None else None
            msgid = row["msgid"] if row and _agrees(item.msgid, row["msgid"]) else item.msgid
            root = root_of(self.known, person, msgid)
            if item.op == "insert" and root is not None and desk.was_muted(root, self.number):
                said = f"{name} has {msgid} of the thread {root}, which {person} has muted"
                yield Finding(LAW, said, point.step)

    def _elsewhere(
        self,
        point: Point,
        name: str,
        route: Route,
        sent: Transmission,
        lives: dict[int, Life],
        by_position: dict[int, Row],
    ) -> Iterator[Finding]:
        """A digest has what was found by the filters that go there."""
        person = route.entry["person"]
        mine = {key for key, life in lives.items() if life.entry["owner"] == person}
        goes = {key for key in mine if route.takes(key) or key in route.unsure}
        if route.entry["filters"] is None or goes & self.plans.replanned.keys() or self.forgot:
            return
        if person in self.plans.replanned or set(route.entry["filters"]) - lives.keys():
            return
        rows = list(by_position.values())
        for item in sent.items:
            found = {row["filter"] for row in rows if _agrees(item.msgid, row["msgid"])} & mine
            if found and not found & goes:
                said = f"{name} has {item.msgid} of the filters {sorted(found)}, which do not go"
                yield Finding(LAW, f"{said} there", point.step)

    def _in_flood(
        self,
        point: Point,
        name: str,
        route: Route,
        sent: Transmission,
        lives: dict[int, Life],
        by_position: dict[int, Row],
    ) -> Iterator[Finding]:
        """What came in the digest of a flood does not come one by one."""
        row = by_position.get(sent.until)
        if row is None or row["filter"] not in lives:
            return
        of = lives[row["filter"]].entry["name"]
        for other in route.sent.values():
            if other.after < sent.until <= other.until and is_in_flood(other, of):
                said = f"{name} is of a flood that came as a digest, {other.key}"
                yield Finding(LAW, said, point.step)

    def _too_early(
        self,
        point: Point,
        name: str,
        route: Route,
        sent: Transmission,
        by_position: dict[int, Row],
    ) -> Iterator[Finding]:
        now = sent.entry["now"]
        for item in sent.items:
            position = sent.until if sent.kind == "forward" else item.position
            row = by_position.get(position) if position is not None else None
            if row is None or row["filter"] in self.plans.replanned:
                continue
            if row["shown_at"] > max(now, row["stored_at"]) + self.plans.set_back:
                said = f"{name} has {row['msgid']} at {when(now)}, to be shown at"
                yield Finding(LAW, f"{said} {when(row['shown_at'])}", point.step)

    def _told(self, point: Point, rows: list[Row], lives: dict[int, Life]) -> Iterator[Finding]:
        """A notification says of no fewer messages than had come."""
        for route in self.routes.values():
            person = route.entry["person"]
            desk = self.desks.of(person)
            if route.entry["kind"] != "push" or person in self.plans.replanned or desk.muted:
                continue
            mine = {key for key, life in lives.items() if life.entry["owner"] == person}
            due = [
                row["sequence"]
                for row in rows
                if row["filter"] in mine
                and row["sequence"] is not None
                and row["sequence"] > route.judged
                and row["retracted_at"] is None
                and row["audience"] in self.known.audiences(person)
            ]
            for sent in route.sent.values():
                came = sum(sent.after < position <= sent.until for position in due)
                if sent.number is not None and came > sent.number:
                    said = f"{_name(route)}: {sent.key} tells of {sent.number}, and {came} had come"
                    yield Finding(LAW, said, point.step)

    def _complete(self, point: Point, rows: list[Row], lives: dict[int, Life]) -> Iterator[Finding]:
        """All that was released was sent, as far as each destination has come."""
        states = {row["key"]: row for row in point.rows("destinations") or []}
        for route in self.routes.values():
            state = states.get(route.entry["key"])
            if state is None or not state["active"]:
                continue
            if state["due_at"] is not None and state["due_at"] <= point.now:
                said = f"{_name(route)} is due since {when(state['due_at'])} and waits"
                yield Finding(LAW, said, point.step)
            person = route.entry["person"]
            for row in rows:
                position, life = row["sequence"], lives.get(row["filter"])
                if position is None or not route.judged < position <= state["cursor"]:
                    continue
                mine = life is not None and life.entry["owner"] == person
                if not mine or not route.takes(row["filter"]) or row["filter"] in route.unsure:
                    continue
                if not self._was_sent(route, row, life.entry["name"]):
                    said = f"{_name(route)} has come to position {state['cursor']}, and"
                    said += (
                        f" {row['msgid']} of filter {row['filter']} at {position} was never sent"
                    )
                    yield Finding(LAW, said, point.step)
            before = 0 if route.judged == RESTORED else route.judged
            route.judged = max(before, state["cursor"])

    def _was_sent(self, route: Route, row: Row, of: str) -> bool:
        position, person = row["sequence"], route.entry["person"]
        desk = self.desks.of(person)
        if desk.muted and root_of(self.known, person, row["msgid"]) in (None, *desk.muted):
            return True  # of a muted thread nothing is sent; whether it was one then is not known
        if row["audience"] not in self.known.audiences(person) or person in self.plans.replanned:
            return True
        kind, left = route.entry["kind"], row["retracted_at"] is not None
        for sent in route.sent.values():
            if not sent.after < position <= sent.until:
                continue
            if sent.kind == "flood" and not is_in_flood(sent, of, may_be=True):
                continue
            if kind == "webhook" and any(item.position == position for item in sent.items):
                return True
            if kind == "forward" and sent.kind == "forward":
                return True
            listed = any(_agrees(item.msgid, row["msgid"]) for item in sent.items)
            if kind != "webhook" and (left or listed or not sent.whole):
                return True
        return kind != "webhook" and left


def _last_restore(entries: list[Entry]) -> int:
    """Return the index of the last restore among entries, -1 if there is none."""
    restores = [i for i, entry in enumerate(entries) if entry.get("kind") == "restore"]
    return restores[-1] if restores else -1


def _again(
    point: Point, name: str, earlier: Transmission, sent: Transmission, *, disturbed: bool
) -> Iterator[Finding]:
    """What comes twice has had no answer the first time, and says no more than then."""
    if earlier.entry["answer"] in ("ok", "status") and not disturbed:
        yield Finding(LAW, f"{name} came twice, and was answered the first time", point.step)
    items = {(item.msgid, item.position) for item in earlier.items}
    more = [item.msgid for item in sent.items if (item.msgid, item.position) not in items]
    if more and earlier.whole and sent.whole:
        said = f"{name} came again with {', '.join(more)}, which it had not the first time"
        yield Finding(LAW, said, point.step)


def _agrees(told: str, msgid: str) -> bool:
    """Return whether a message that was sent is the one of a match, by its Message-ID."""
    return told == msgid or msgid.startswith(f"{told} copy:")


def _place(entry: Entry) -> str:
    return str(entry.get("recipient") or entry.get("path") or "")


def _name(route: Route) -> str:
    return f"the {route.entry['kind']} {route.entry['key']} of {route.entry['person']}"
