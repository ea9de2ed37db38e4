"""Reminders: a message is snoozed until then, and again, until somebody answers.

asked for ─> snoozed until then; taken back ─> not snoozed
answered, so out of the live filter of reminders ─> what is snoozed for it alone waits no more
answered before that filter has looked, so never in it ─> the same
due, repeated and not answered ─> back as of then, and nothing it was filed as

Where it was due more than once since the last point, or its owner dealt with the message meanwhile,
nobody can say how it stands.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from tests.simulation.auditor.findings import EPOCH, instant_of
from tests.simulation.auditor.lives import Life
from tests.simulation.auditor.shelves import ACTS, ENDS, UNSURE, Desks, until_of
from tests.simulation.auditor.story import Entry, Point, Row

FILTER, SAID = "reminders", "tagged remind by me"
"""The name of the live filter whose messages are waited for, and what it says unless changed."""


@dataclass(slots=True)
class Reminder:
    """Until when a message is snoozed for it, when it is due next, and after how many days again.

    ``first``: when it was due first; ``made``: when it was asked for.
    """

    until: Any
    due: int
    first: int
    every: int
    made: int
    zone: str

    def pass_by(self, now: int) -> list[int]:
        """Return the instants at which it was due up to now; be due at the next one."""
        passed = []
        while self.due <= now:
            passed.append(self.due)
            local = (EPOCH + timedelta(microseconds=self.first)).astimezone(ZoneInfo(self.zone))
            wall, days = local.replace(tzinfo=None), 0
            while self.every and self.due <= passed[-1]:
                days += self.every
                again = wall + timedelta(days=days)
                self.due = instant_of(again.isoformat(), self.zone)
            self.due = self.due if self.every else 1 << 62
        return passed


@dataclass(slots=True)
class Reminders:
    """What people are to be reminded of, by person and message, followed through a history."""

    desks: Desks
    waiting: dict[tuple[str, str], Reminder] = field(default_factory=dict)

    def follow(self, point: Point, lives: dict[int, Life]) -> None:
        """Follow what became of reminders up to a point; desks have followed it."""
        taken = [(entry["what"], self._take(entry)) for entry in point.entries]
        touched = {about for _, several in taken for about in several}
        acted = {about for what, several in taken for about in several if what != "remind"}
        mine = {life.entry["owner"]: key for key, life in lives.items() if _is_theirs(life)}
        seen = point.rows("matches")
        rows = {(row["filter"], row["msgid"]): row for row in seen or []}
        for person, msgid in list(self.waiting):
            about, key = (person, msgid), mine.get(person, 0)
            row, those = rows.get((key, msgid)), touched
            left = None if row is None else row["retracted_at"]
            was_found = row is not None and (left is None or left > self.waiting[about].made)
            if seen is not None and not was_found and key and _is_looked_for(lives[key]):
                row, those = {"retracted_at": point.now}, acted
            self._come(point, about, row, is_touched=about in those)

    def _take(self, entry: Entry) -> list[tuple[str, str]]:
        """Take in an entry; return the messages with which it says that somebody dealt."""
        about: list[tuple[str, str]] = []
        match entry["what"]:
            case "remind":
                about = [(entry["person"], entry["msgids"][0])]
                self._asked(entry, about[0])
            case "act" if entry["kind"] in ACTS:
                of = entry.get("msgids")
                mine = [about for about in self.waiting if about[0] == entry["person"]]
                about = [one for one in mine if not of or one[1] in of]
            case "upkeep" | "fault" if entry["kind"] in ("forget", "restore", "clock_step"):
                about = list(self.waiting)
                self._doubt(about)
            case "person":
                about = [a for a in self.waiting if a[0] == entry["name"]]
                self._doubt(about)
        return about

    def _asked(self, entry: Entry, about: tuple[str, str]) -> None:
        status = entry["status"]
        if status is not None and status >= 400 and not entry["step_made"]:
            return
        self.waiting.pop(about, None)
        if status is None:
            self._doubt([about])
        elif entry["until"] not in ENDS:
            until, every = until_of(entry), int(entry["every"] or 0)
            reminder = Reminder(until, until, until, every, entry["now"], entry["zone"])
            if every:
                reminder.pass_by(until)
            self.waiting[about] = reminder

    def _doubt(self, about: list[tuple[str, str]]) -> None:
        for person, msgid in about:
            self.desks.of(person).doubt([msgid])
            if reminder := self.waiting.get((person, msgid)):
                reminder.until = UNSURE

    def _come(
        self, point: Point, about: tuple[str, str], row: Row | None, *, is_touched: bool
    ) -> None:
        reminder, desk = self.waiting[about], self.desks.of(about[0])
        state = desk.state(about[1])
        left = row is not None and (row["retracted_at"] or 0) > reminder.made
        waits = row is not None and row["retracted_at"] is None
        passed = reminder.pass_by(point.now)
        if left or (passed and not reminder.every):
            del self.waiting[about]
        is_event = left or (passed and reminder.every)
        unsure = UNSURE in (reminder.until, state.snoozed) or (is_event and is_touched)
        if unsure or (passed and reminder.every and (left or not waits or len(passed) > 1)):
            self._doubt([about])
        elif left and state.snoozed == reminder.until:
            if reminder.until <= point.now:  # before that, or after
                desk.doubt([about[1]])
                return
            desk.states[about[1]] = replace(state, snoozed=None)
            desk.changed_by[about[1]] = ("reminder", point.now)
        elif passed and reminder.every and not (state.snoozed or 0) > point.now:
            reminder.until = passed[0]
            desk.states[about[1]] = replace(state, snoozed=passed[0], done=None, skipped=None)
            desk.changed_by[about[1]] = ("reminder", passed[0])


def _is_looked_for(life: Life) -> bool:
    """Tell whether what a filter of reminders has not found by a settled point is answered."""
    entry = life.entry
    is_run = entry.get("active", True) and not entry.get("error")
    return bool(is_run and entry["live"] and SAID in entry["text"])


def _is_theirs(life: Life) -> bool:
    return bool(life.entry["name"] == FILTER)
