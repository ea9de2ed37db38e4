"""What people did with messages: done, starred, snoozed, and the threads that they muted.

Where nobody can say whether an act was done (its answer was lost, or the message was perhaps in no
list of the person yet), the state is ``UNSURE``, and whatever follows from it is not judged.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from simulation.auditor.findings import EPOCH
from simulation.auditor.story import Entry, Known, Point


class _Unsure:
    def __repr__(self) -> str:
        return "unsure"


UNSURE: Any = _Unsure()

SETS: dict[str, dict[str, str | None]] = {
    "done": {"done": "now", "snoozed": None},
    "inbox": {"done": None},
    "star": {"starred": "now"},
    "unstar": {"starred": None},
    "snooze": {"snoozed": "until", "done": None},
    "unsnooze": {"snoozed": None},
}
"""What an act sets: to its instant, to the instant until which, or to nothing."""

ACTS = {*SETS, "read", "unread", "mute", "unmute", "undo"}


@dataclass(frozen=True, slots=True)
class State:
    """When a message was done and starred, and until when it is snoozed; None is never."""

    done: Any = None
    starred: Any = None
    snoozed: Any = None

    def hidden(self, now: int) -> bool | None:
        """Return whether the message is in no list now; None if that is unsure."""
        if self.done is UNSURE or self.snoozed is UNSURE:
            return None
        return self.done is not None or (self.snoozed is not None and self.snoozed > now)


@dataclass(slots=True)
class Desk:
    """What one person did: states by msgid, muted roots, and what each step changed."""

    states: dict[str, State] = field(default_factory=dict)
    muted: dict[str, Any] = field(default_factory=dict)
    steps: dict[str, list[tuple[str, State, State]]] = field(default_factory=dict)
    threads: dict[str, dict[str, bool]] = field(default_factory=dict)

    def state(self, msgid: str) -> State:
        return self.states.get(msgid, State())

    def doubt(self, msgids: list[str] | None = None) -> None:
        """Be sure of nothing any more about some messages, or all that were ever acted on."""
        for msgid in list(self.states) if msgids is None else msgids:
            self.states[msgid] = State(UNSURE, UNSURE, UNSURE)


class Desks:
    """What everybody did, followed through the entries of a history."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.desks: dict[str, Desk] = {}
        self.sure: dict[str, set[str]] = {}

    def of(self, person: str) -> Desk:
        return self.desks.setdefault(person, Desk())

    def follow(self, point: Point) -> None:
        """Follow what was done up to a point; to be called before its matches are taken in."""
        for entry in point.entries:
            match entry["what"]:
                case "act" if entry["kind"] in ACTS:
                    self._act(entry)
                case "upkeep" if entry["kind"] in ("forget", "restore"):
                    for desk in self.desks.values():
                        desk.doubt()
                        desk.muted = dict.fromkeys(desk.muted, UNSURE)
                case "person":
                    self.of(entry["name"]).doubt()
                case "filter_changed" if entry["how"] == "delete" or entry.get("forget"):
                    self.sure.clear()

    def look(self, point: Point, owners: dict[int, str]) -> None:
        """Take in which messages are surely in lists of each person."""
        rows = point.rows("matches")
        if rows is not None:
            self.sure = {}
            for row in rows:
                if row["listed"] and row["filter"] in owners:
                    self.sure.setdefault(owners[row["filter"]], set()).add(row["msgid"])

    def _act(self, entry: Entry) -> None:
        desk, status = self.of(entry["person"]), entry.get("status")
        if entry["kind"] == "undo":
            self._undo(desk, entry)
            return
        refused = status is not None and status >= 400
        if refused and not entry.get("step_made"):
            return
        done = status is not None
        sure = self.sure.get(entry["person"], set())
        step = (entry.get("step_made") or [""])[-1]
        changes: list[tuple[str, State, State]] = []
        threads: dict[str, bool] = {}
        for msgid in dict.fromkeys(entry["msgids"]):
            certain = done and (msgid in sure or msgid in desk.states)
            if entry["kind"] in SETS:
                before = desk.state(msgid)
                desk.states[msgid] = self._state(before, entry, certain=certain)
                changes.append((msgid, before, desk.states[msgid]))
            if entry["kind"] in ("mute", "unmute"):
                root = root_of(self.known, entry["person"], msgid)
                mutes = entry["kind"] == "mute"
                if root is None or not certain:
                    for name in _perhaps_roots(self.known, entry["person"], msgid):
                        desk.muted[name] = UNSURE
                elif desk.muted.get(root, False) != mutes:
                    threads[root] = desk.muted.get(root, False)
                    desk.muted[root] = mutes
        if step:
            desk.steps[step] = changes
            desk.threads[step] = threads

    def _state(self, before: State, entry: Entry, *, certain: bool) -> State:
        until = entry.get("until") or self._tomorrow(entry)
        values = {"now": entry["now"], "until": until, None: None}
        fields = {name: values[value] for name, value in SETS[entry["kind"]].items()}
        for name in ("done", "starred"):  # what is so already stays so since then
            if fields.get(name) is not None and getattr(before, name) is not None:
                fields[name] = getattr(before, name)
        if not certain:
            fields = {n: v if getattr(before, n) == v else UNSURE for n, v in fields.items()}
        return replace(before, **fields)

    def _tomorrow(self, entry: Entry) -> int:
        """Return 08:00 of the next day, where the person is."""
        person = self.known.people.get(entry["person"], {})
        zone = ZoneInfo(person.get("time_zone") or "UTC")
        today = (EPOCH + timedelta(microseconds=entry["now"])).astimezone(zone).date()
        morning = datetime.combine(today + timedelta(days=1), time(8), zone)
        return (morning.astimezone(UTC) - EPOCH) // timedelta(microseconds=1)

    def _undo(self, desk: Desk, entry: Entry) -> None:
        """Undo a step, but for what was changed since; a lost answer leaves it unsure."""
        status = entry.get("status")
        if status is not None and status >= 400:
            return
        for msgid, before, after in desk.steps.pop(entry["of"], []):
            if desk.state(msgid) == after:
                desk.states[msgid] = before if status is not None else _either(before, after)
            elif desk.state(msgid) != before:
                desk.doubt([msgid])
        for root, before_ in desk.threads.pop(entry["of"], {}).items():
            desk.muted[root] = before_ if status is not None else UNSURE


def _either(one: State, other: State) -> State:
    pairs = {name: (getattr(one, name), getattr(other, name)) for name in State.__slots__}
    return State(**{name: a if a == b else UNSURE for name, (a, b) in pairs.items()})


def _perhaps_roots(known: Known, person: str, msgid: str) -> set[str]:
    """Return all that may be the first message of a thread: what it answers, up to the first."""
    found, waiting = {msgid}, [msgid]
    while waiting:
        name = waiting.pop()
        rows = (known.rows["messages"].get((name, a)) for a in known.audiences(person))
        for row in rows:
            above = {*row["references"][:1], row["inreplyto"]} - {None} if row else set[str]()
            waiting += sorted(above - found)
            found |= above
    return found


def root_of(known: Known, person: str, msgid: str) -> str | None:
    """Return the first message of a thread as its references name it; None if they do not.

    Nor if mail was forgotten: a thread stays whole though what held it together is gone.
    """
    if known.has_forgotten:
        return None
    for audience in sorted(known.audiences(person)):
        row = known.rows["messages"].get((msgid, audience))
        if row is not None:
            if row["references"]:
                return str(row["references"][0])
            return None if row["inreplyto"] else msgid
    return None
