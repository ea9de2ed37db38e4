"""What people did with messages: done, starred, snoozed, and the threads that they muted.

Where nobody can say whether an act was done (its answer was lost, or the message was perhaps in no
list of the person yet), the state is ``UNSURE``, and whatever follows from it is not judged.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from tests.simulation.auditor.findings import EPOCH, instant_of
from tests.simulation.auditor.story import Entry, Known, Point, audiences_of


class _Unsure:
    def __repr__(self) -> str:
        return "unsure"


UNSURE: Any = _Unsure()

SETS: dict[str, dict[str, str | None]] = {
    "done": {"done": "now", "snoozed": None, "pinned": None},
    "inbox": {"done": None, "skipped": None},
    "star": {"starred": "now"},
    "unstar": {"starred": None},
    "pin": {"pinned": "now"},
    "unpin": {"pinned": None},
    "snooze": {"snoozed": "until", "done": None, "skipped": None},
    "unsnooze": {"snoozed": None},
}
"""What an act sets: to its instant, to the instant until which, or to nothing."""

ENDS = ("never", "settled")
"""What is said of a reminder that is to come no more."""

ACTS = {*SETS, "read", "unread", "mute", "unmute", "undo"}


@dataclass(frozen=True, slots=True)
class State:
    """When a message was done, starred, pinned, kept out of the inbox; until when it is snoozed.

    None is never.
    """

    done: Any = None
    starred: Any = None
    snoozed: Any = None
    skipped: Any = None
    pinned: Any = None

    def hidden(self, now: int, *, inbox: bool) -> bool | None:
        """Return whether the message is in no list now, or not in the inbox; None if unsure."""
        of_inbox = (self.skipped, self.pinned) if inbox else ()
        if UNSURE in (self.done, self.snoozed, *of_inbox):
            return None
        if inbox and self.skipped is not None:
            return True
        return self.done is not None or (self.snoozed is not None and self.snoozed > now)


@dataclass(frozen=True, slots=True)
class Change:
    """What a step made of a message, and by which step it had been changed last."""

    msgid: str
    before: State
    after: State
    by_before: Any


@dataclass(slots=True)
class Desk:
    """What one person did: states by msgid, muted roots, and what each step changed.

    ``changed_by`` and ``muted_by`` say which step did that last: what another has changed since is
    not undone.  ``mutings`` are the changes of muted roots, by the numbers of their entries.
    ``reminders`` are until when messages were snoozed for one.
    """

    states: dict[str, State] = field(default_factory=dict)
    changed_by: dict[str, Any] = field(default_factory=dict)
    muted: dict[str, Any] = field(default_factory=dict)
    muted_by: dict[str, Any] = field(default_factory=dict)
    mutings: dict[str, list[tuple[int, Any]]] = field(default_factory=dict)
    steps: dict[str, list[Change]] = field(default_factory=dict)
    threads: dict[str, dict[str, tuple[bool, Any]]] = field(default_factory=dict)
    reminders: dict[str, Any] = field(default_factory=dict)

    def state(self, msgid: str) -> State:
        return self.states.get(msgid, State())

    def doubt(self, msgids: list[str] | None = None) -> None:
        """Be sure of nothing any more about some messages, or all that were ever acted on."""
        for msgid in list(self.states) if msgids is None else msgids:
            self.states[msgid] = State(*[UNSURE] * len(State.__slots__))
            self.changed_by[msgid] = UNSURE

    def mute(self, root: str, muted: Any, by: Any, number: int) -> None:
        """Take a thread for muted, or not, by a step, from the entry of a number on."""
        self.muted[root], self.muted_by[root] = muted, by
        self.mutings.setdefault(root, []).append((number, muted))

    def was_muted(self, root: str, number: int) -> bool:
        """Return whether a thread was muted for sure as an entry was written."""
        changes = [muted for at, muted in self.mutings.get(root, []) if at < number]
        return bool(changes) and changes[-1] is True


class Desks:
    """What everybody did, followed through the entries of a history."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.desks: dict[str, Desk] = {}
        self.people: dict[str, Entry] = {}
        self.sure: dict[str, set[str]] = {}
        self.number, self.is_meanwhile = 0, False
        self.later: list[tuple[Desk, str]] = []

    def of(self, person: str) -> Desk:
        return self.desks.setdefault(person, Desk())

    def follow(self, point: Point) -> None:
        """Follow what was done up to a point; to be called before its matches are taken in."""
        for entry in point.entries:
            self.number += 1
            match entry["what"]:
                case "step":
                    self._end_meanwhile()
                case "meanwhile":
                    self.is_meanwhile = True
                case "act" if entry["kind"] in ACTS:
                    self._act(entry)
                case "remind":
                    self._remind(entry)
                case "upkeep" if entry["kind"] in ("forget", "restore"):
                    for desk in self.desks.values():
                        desk.doubt()
                        desk.reminders = dict.fromkeys(desk.reminders, UNSURE)
                        for root in desk.muted:
                            desk.mute(root, UNSURE, UNSURE, self.number)
                case "person":
                    self._person(entry)
                case "filter_changed" if entry["how"] == "delete" or entry.get("forget"):
                    self.sure.clear()
        self._end_meanwhile()

    def _remind(self, entry: Entry) -> None:
        """Snooze a message until its reminder; without one, what is snoozed otherwise stays so."""
        desk, [msgid] = self.of(entry["person"]), entry["msgids"]
        if entry["until"] not in ENDS:
            until = until_of(entry)
            self._act({**entry, "kind": "snooze", "until": until})
            if (status := entry.get("status")) is None or status < 400:
                desk.reminders[msgid] = UNSURE if status is None else until
            return
        until, snoozed = desk.reminders.get(msgid), desk.state(msgid).snoozed
        if UNSURE in (until, snoozed):
            desk.doubt([msgid])
        elif until == snoozed:
            self._act({**entry, "kind": "unsnooze", "until": None})

    def _person(self, entry: Entry) -> None:
        """Who joins or leaves a group may have acted on what they do not see any more."""
        name = entry["name"]
        before, self.people[name] = self.people.get(name), entry
        if audiences_of(before, name) != audiences_of(entry, name):
            self.of(name).doubt()

    def _end_meanwhile(self) -> None:
        """What was muted while something was sent is muted for sure once that is over."""
        for desk, root in self.later:
            desk.mutings[root].append((self.number, desk.muted[root]))
        self.later.clear()
        self.is_meanwhile = False

    def _mute(self, desk: Desk, root: str, muted: Any, by: Any) -> None:
        desk.mute(root, muted, by, self.number)
        if self.is_meanwhile:
            desk.mutings[root][-1] = (self.number, UNSURE)
            self.later.append((desk, root))

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
        made = entry.get("step_made") or []
        step = made[0] if len(made) == 1 and done else UNSURE
        changes: list[Change] = []
        threads: dict[str, tuple[bool, Any]] = {}
        # One that is in no list can be starred, if it is there; of several, those that are.
        alone = entry["kind"] in ("star", "unstar") and len(entry["msgids"]) == 1
        for msgid in dict.fromkeys(entry["msgids"]):
            certain = done and (alone or msgid in sure or msgid in desk.states)
            if entry["kind"] in SETS:
                before, by = desk.state(msgid), desk.changed_by.get(msgid)
                after = desk.states[msgid] = self._state(before, entry, certain=certain)
                if entry["kind"] == "snooze" and after.snoozed == desk.reminders.get(msgid):
                    desk.reminders[msgid] = UNSURE  # nobody knows which of both it is snoozed for
                if not certain or UNSURE in astuple(before):
                    desk.changed_by[msgid] = UNSURE
                elif after != before:
                    desk.changed_by[msgid] = step
                changes.append(Change(msgid, before, after, by))
            if entry["kind"] in ("mute", "unmute"):
                root = root_of(self.known, entry["person"], msgid)
                mutes = entry["kind"] == "mute"
                if root is None or not certain:
                    for name in _perhaps_roots(self.known, msgid):
                        self._mute(desk, name, UNSURE, UNSURE)
                elif desk.muted.get(root, False) != mutes:
                    threads.setdefault(root, (desk.muted.get(root, False), desk.muted_by.get(root)))
                    self._mute(desk, root, mutes, step)
        for name in made:
            desk.steps[name], desk.threads[name] = changes, threads

    def _state(self, before: State, entry: Entry, *, certain: bool) -> State:
        zone = self.people.get(entry["person"], {}).get("time_zone") or "UTC"
        until = entry.get("until") or tomorrow(entry["now"], zone)
        values = {"now": entry["now"], "until": until, None: None}
        fields = {name: values[value] for name, value in SETS[entry["kind"]].items()}
        for name in ("done", "starred", "pinned"):  # what is so already stays so since then
            if fields.get(name) is not None and getattr(before, name) is not None:
                fields[name] = getattr(before, name)
        if not certain:
            fields = {n: v if getattr(before, n) == v else UNSURE for n, v in fields.items()}
        return replace(before, **fields)

    def _undo(self, desk: Desk, entry: Entry) -> None:
        """Undo a step, but for what was changed since; a lost answer leaves it unsure."""
        status, step = entry.get("status"), entry["of"]
        if status is not None and status >= 400:
            return
        for change in desk.steps.pop(step, []):
            msgid, by = change.msgid, desk.changed_by.get(change.msgid)
            if by is UNSURE and desk.state(msgid) != change.before:
                desk.doubt([msgid])
            elif by == step and change.before != change.after:
                desk.states[msgid] = (
                    change.before if status is not None else _either(change.before, change.after)
                )
                desk.changed_by[msgid] = change.by_before if status is not None else UNSURE
        for root, (muted, by) in desk.threads.pop(step, {}).items():
            self._undo_muting(desk, root, muted, by, entry)

    def _undo_muting(self, desk: Desk, root: str, muted: Any, by: Any, entry: Entry) -> None:
        """Mute a thread again that is not muted by now, or unmute it if no other step muted it."""
        if entry.get("status") is None or UNSURE in (muted, desk.muted_by.get(root)):
            self._mute(desk, root, UNSURE, UNSURE)
        elif muted and not desk.muted.get(root):
            self._mute(desk, root, True, by)
        elif not muted and desk.muted_by.get(root) == entry["of"]:
            self._mute(desk, root, False, None)


def tomorrow(now: int, zone: str) -> int:
    """Return 08:00 of the next day in a time zone.

    >>> tomorrow(0, "UTC") // 3_600_000_000
    32
    """
    there = ZoneInfo(zone)
    today = (EPOCH + timedelta(microseconds=now)).astimezone(there).date()
    morning = datetime.combine(today + timedelta(days=1), time(8), there)
    return (morning.astimezone(UTC) - EPOCH) // timedelta(microseconds=1)


def until_of(entry: Entry) -> int:
    """Return until when a message is snoozed of which somebody is to be reminded."""
    if entry["until"] == "tomorrow":
        return tomorrow(entry["now"], entry["zone"])
    return instant_of(entry["chosen"], entry["zone"])


def _either(one: State, other: State) -> State:
    pairs = {name: (getattr(one, name), getattr(other, name)) for name in State.__slots__}
    return State(**{name: a if a == b else UNSURE for name, (a, b) in pairs.items()})


def _perhaps_roots(known: Known, msgid: str) -> set[str]:
    """Return all that may be the first message of a thread: what it answers, up to the first.

    By whatever copy: whoever muted it may have lost sight of that since.
    """
    found, waiting = {msgid}, [msgid]
    audiences = {audience for _, audience in known.rows["messages"]}
    while waiting:
        name = waiting.pop()
        for row in (known.rows["messages"].get((name, audience)) for audience in audiences):
            above = {*row["references"][:1], row["inreplyto"]} - {None} if row else set[str]()
            waiting += sorted(above - found)
            found |= above
    return found


def root_of(known: Known, person: str, msgid: str) -> str | None:
    """Return the name of a message's conversation; None if nobody can say for sure.

    That is where facts about threads bring conversations together, or mail was forgotten: a thread
    stays whole though what held it together is gone.
    """
    if known.has_forgotten:
        return None
    copies = (known.roots.get((msgid, audience)) for audience in known.audiences(person))
    roots = set[str]().union(*filter(None, copies))
    return roots.pop() if len(roots) == 1 and not roots & known.joined else None
