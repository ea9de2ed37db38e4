"""When a match is shown: at the time that its owner chose, and released then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from tests.simulation.auditor.findings import Finding, when
from tests.simulation.auditor.lives import Life
from tests.simulation.auditor.nodes import MESSAGES
from tests.simulation.auditor.story import Entry, Known, Point
from tests.simulation.auditor.timing import HELD, shown_at

LAW = "deliveries"

REFUSED = 400
"""The status of an answer that says that it was not done, or a higher one."""

Row = dict[str, Any]


class Plans:
    """When what was stored is to be shown, followed through the entries of a history.

    ``replanned`` are people and filters of which a change may have planned anew what was stored up
    to an instant.  ``choices`` are those of filters at the last point, which was at ``last``.
    ``shown_now`` says of filters between which instants all that waited was to be shown, and if
    that is sure.  ``stays`` are, of each match, when it was to be shown by when it was stored: one
    that came back, and left before it was shown, has its former instants.  ``set_back`` is by how
    much the clock was set back so far, in all; ``is_back``, whether it was since the last point:
    what waits may have been planned anew.
    """

    def __init__(self, known: Known) -> None:
        self.known, self.set_back, self.is_back = known, 0, False
        self.people: set[str] = set()
        self.stored: dict[int, Row] = {}
        self.stays: dict[int, dict[int, int]] = {}
        self.replanned: dict[str | int, int] = {}
        self.hurried: dict[int, tuple[int, int]] = {}
        self.shown_now: dict[int, list[tuple[int, int, bool]]] = {}
        self.choices: dict[int, str] = {}
        self.last = 0

    def follow(self, point: Point, lives: dict[int, Life]) -> None:
        """Take in what people have changed up to a point."""
        before = self.set_back
        for entry in point.entries:
            if entry["what"] == "person":
                if entry["name"] in self.people:
                    self.replanned[entry["name"]] = entry["now"]
                self.people.add(entry["name"])
            if entry.get("kind") == "clock_step":
                self.set_back -= min(entry["by"], 0)
        self.is_back = self.set_back > before
        self.hurried = dict(_hurried(point.entries, lives))
        self.shown_now = {}
        for before, entry in pairwise([{"now": self.last}, *point.entries]):
            if entry["what"] == "shown_now" and (entry["status"] or 0) < REFUSED:
                at = before["now"], entry["now"], entry["status"] is not None
                self.shown_now.setdefault(entry["filter"], []).append(at)

    def judge(self, point: Point, rows: list[Row], lives: dict[int, Life]) -> Iterator[Finding]:
        """A match is shown when its owner wants to see it, and released then."""
        yield from self._held(point, rows, lives)
        yield from self._shown(point, rows, lives)
        self.stored = {row["key"]: row for row in rows}
        for row in rows:
            self.stays.setdefault(row["key"], {})[row["stored_at"]] = row["shown_at"]
        self.choices = {key: life.entry["timeliness"] for key, life in lives.items()}
        self.last = point.now
        self.replanned.clear()

    def _shown(self, point: Point, rows: list[Row], lives: dict[int, Life]) -> Iterator[Finding]:
        for row in rows:
            life = lives.get(row["filter"])
            if life is None:
                continue
            entry, shown, stored_at = life.entry, row["shown_at"], row["stored_at"]
            due = shown <= stored_at or shown <= point.now
            if due and row["listed"] and row["sequence"] is None:
                said = f"{row['msgid']} of filter {row['filter']} is due since {when(shown)}"
                yield Finding(LAW, f"{said}, and not released", point.step)
            known = self.stored.get(row["key"])
            same = known is not None and known["stored_at"] == stored_at
            if row["filter"] in self.hurried.keys() - self.shown_now.keys():
                yield from self._planned_anew(point, row, entry)
            replanned = stored_at <= self._replanned(row["filter"], entry["owner"])
            if replanned or entry.get("while_unread"):
                if shown < stored_at and shown != HELD and not self.set_back:
                    said = f"{row['msgid']} of filter {row['filter']} is shown before it is stored"
                    yield Finding(LAW, said, point.step)
                continue
            person = self.known.people.get(entry["owner"], {})
            was_released = same and known is not None and known["sequence"] is not None
            if was_released and known["retracted_at"] != row["retracted_at"]:
                was_released = False  # that it left is released by itself, and waits
            if self.is_back and not was_released:
                continue
            was_held = known is not None and known["shown_at"] == HELD
            if same and known is not None and not was_held:  # what was planned stays so
                planned = known["shown_at"]
            elif row["retracted_at"] is not None and stored_at in self.stays.get(row["key"], {}):
                planned = self.stays[row["key"]][stored_at]
            elif entry["timeliness"].startswith("after") and not row["listed"]:
                planned = HELD
            else:
                planned = self._time_of(entry["timeliness"], person, stored_at, row)
            asked = self.shown_now.get(row["filter"], [])
            if any(least <= shown <= most for least, most, _ in asked):
                continue
            if row["retracted_at"] is None and _was_to_be_shown(asked, stored_at, planned):
                said = f"{row['msgid']} of filter {row['filter']} waits until {when(shown)}, and"
                yield Finding(LAW, f"{said} its owner has asked to be shown it", point.step)
            elif shown != planned:
                said = (
                    f"{row['msgid']} of filter {row['filter']} ({entry['timeliness']}), stored at"
                )
                said += f" {when(stored_at)}, is to be shown at {when(planned)}, not {when(shown)}"
                yield Finding(LAW, said, point.step)

    def _replanned(self, *changed: str | int) -> int:
        """Return up to which instant what was stored may have been planned anew since."""
        last = max(self.replanned.get(key, 0) for key in changed)
        return HELD if last and self.set_back else last

    def _planned_anew(self, point: Point, row: Row, entry: Entry) -> Iterator[Finding]:
        """What waits as another time is chosen is shown at the first such time from then on."""
        least, most = self.hurried[row["filter"]]
        known, stored_at = self.stored.get(row["key"]), row["stored_at"]
        person = self.known.people.get(entry["owner"], {})
        if known is not None and known["stored_at"] == stored_at:
            planned = known["shown_at"] if known["sequence"] is None else 0
        elif self.last < stored_at < least and row["filter"] in self.choices:
            planned = self._time_of(self.choices[row["filter"]], person, stored_at, row)
        else:
            return
        waits = planned > max(most, stored_at)
        if not waits or self.set_back or HELD in (planned, row["shown_at"]):
            return
        first = self._time_of(entry["timeliness"], person, least, row)
        last = self._time_of(entry["timeliness"], person, most, row)
        if not first <= row["shown_at"] <= last:
            said = f"{row['msgid']} of filter {row['filter']} waited as that became"
            said += f" {entry['timeliness']} at {when(most)}, and is to be shown at {when(last)},"
            yield Finding(LAW, f"{said} not {when(row['shown_at'])}", point.step)

    def _time_of(self, timeliness: str, person: Entry, at: int, row: Row) -> int:
        message = self.known.rows[MESSAGES].get((row["msgid"], row["audience"]), {})
        return shown_at(timeliness, person, at, message.get("received") or 0)

    def _held(self, point: Point, rows: list[Row], lives: dict[int, Life]) -> Iterator[Finding]:
        """Nothing is held of a filter in which nothing is unread."""
        unread = {
            row["filter"]
            for row in rows
            if row["shown_at"] != HELD and row["read_at"] is None and row["retracted_at"] is None
        }
        for row in rows:
            held = row["shown_at"] == HELD and row["filter"] in lives
            waits = held and lives[row["filter"]].entry["timeliness"].startswith("after")
            if held and row["filter"] not in unread and not (waits and not row["listed"]):
                said = f"{row['msgid']} of filter {row['filter']} is held, and nothing there"
                yield Finding(LAW, f"{said} is unread", point.step)


def _was_to_be_shown(asked: list[tuple[int, int, bool]], stored_at: int, planned: int) -> bool:
    """Return whether a match that waits was there as its owner wanted to see all that waits."""
    return any(sure and stored_at < least and planned > most for least, most, sure in asked)


def _hurried(entries: list[Entry], lives: dict[int, Life]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield the filters of which nothing changed but the time, and between which instants."""
    owners = {key: life.entry["owner"] for key, life in lives.items()}
    whole = {key: life for key, life in lives.items() if not life.entry.get("while_unread")}
    kinds = {"filter_changed": "key", "person": "name"}
    changed = Counter(entry[kinds[entry["what"]]] for entry in entries if entry["what"] in kinds)
    for before, entry in pairwise(entries):
        key, status = entry.get("key"), entry.get("status")
        is_time = entry["what"] == "filter_changed" and entry["how"] == "timeliness"
        done = is_time and not entry.get("same") and status is not None and status < 400
        if done and key in whole and changed[key] == 1 and not changed[owners[key]]:
            yield key, (before["now"], entry["now"])
