"""The life of each filter between two settled points: the texts that it had, and who asked.

filter ─ edit, recompiled ─> another text from an instant on; the older one is run up to there
       ─ its owner joins or leaves a group, mail is forgotten ─> it begins again
       ─ pause ─> its watermark stays
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from tests.simulation.auditor.story import Entry, Known, Point, audiences_of
from tests.simulation.auditor.waiting import ORDINARY, Clock

Row = dict[str, Any]
MEANING = ("tql", "t0", "live", "waits")
"""What makes a filter begin anew if it changes."""

CLOSE = 1000
"""Microseconds by which the clock of a site may be ahead of the wall clock, for its ties."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A text of a filter, asked for somebody who sees these audiences, up to an instant.

    ``until`` is that of the change that ended it, as far as it is known: it lies between ``least``
    and ``most``.  ``sure``: what it had to find up to ``least`` is found, whatever came then.
    ``cut``: mail was forgotten while it was run.  ``waits``: by a clock that nobody looked at.
    """

    tql: str
    t0: int | None
    live: bool
    audiences: frozenset[str]
    least: int = 0
    most: int = 0
    sure: bool = True
    cut: bool = False
    waits: bool = False


@dataclass(slots=True)
class Life:
    """What is known of a filter: its last entry, and what was stored at the last point.

    ``again``: it has begun again since then, with its T0; ``lost``: its owner may have lost sight
    of some mail meanwhile; ``dropped``: its owner has left a group; ``cut``: mail that it could see
    was forgotten, without its beginning again, so that the past cannot be computed from what is
    left; ``was_cut``: before that;
    ``clock``: what its ``now()`` is;
    ``forgotten``: when mail that it could see was forgotten, or a backup was restored: what it had
    found by then may be right.
    """

    entry: Entry
    stored: dict[str, Row] = field(default_factory=dict)
    since: int | None = None
    older: list[Stretch] = field(default_factory=list)
    again: bool = True
    lost: bool = False
    dropped: bool = False
    cut: bool = False
    was_cut: bool = False
    new: bool = True
    forgotten: int | None = None
    clock: Clock = ORDINARY

    def audiences(self, known: Known) -> frozenset[str]:
        return known.audiences(self.entry["owner"])


class Lives:
    """All filters, followed through the entries of a history."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.lives: dict[int, Life] = {}
        self.latest = 0

    def follow(self, point: Point) -> None:
        """Follow what happened up to a point."""
        restored: int | None = None
        for entry in point.entries:
            self.latest = max(self.latest, entry["now"])
            match entry["what"]:
                case "person":
                    self._person(entry, point)
                case "filter":
                    self.lives[entry["key"]] = Life(entry, forgotten=restored)
                case "filter_changed":
                    self._changed(entry, point)
                case "upkeep" if entry["kind"] == "forget":
                    self._forgotten(entry, point)
                case "upkeep" if entry["kind"] == "restore":
                    restored = entry["now"]
                    for life in self.lives.values():
                        life.cut |= life.was_cut
                        life.lost = life.again = True
                        life.stored, life.forgotten = {}, restored
                        # What waits for a paused filter to go on is in the backup too.
                        life.older = [_unsure(stretch) for stretch in life.older]

    def _person(self, entry: Entry, point: Point) -> None:
        name = entry["name"]
        before = self.known.audiences(name)
        self.known.people[name] = entry
        if entry.get("removed"):
            for key in [key for key, life in self.lives.items() if life.entry["owner"] == name]:
                del self.lives[key]
            return
        now = audiences_of(entry, name)
        if now == before:
            return
        for life in self.lives.values():
            if life.entry["owner"] == name:
                anew = [_unsure(stretch, now) for stretch in life.older]
                self._end(life, before, *self._around(entry["now"], point), sure=False)
                life.older += anew
                life.again, life.cut, life.was_cut = True, False, False
                life.lost |= bool(before - now)
                life.dropped |= bool(before - now)

    def _changed(self, entry: Entry, point: Point) -> None:
        if entry["how"] == "delete":
            self.lives.pop(entry["key"], None)  # that of somebody who has left is gone already
            return
        life = self.lives[entry["key"]]
        before = life.entry
        life.entry = {**before, **entry}
        if entry["how"] == "restored":
            return
        # What was answered with an error after it was committed has taken effect.
        differs = any(before.get(name) != entry.get(name) for name in ("text", "t0", "timeliness"))
        refused = (entry.get("status") or 0) >= 400 and not differs
        forgets = bool(entry.get("forget")) and not entry.get("same") and not refused
        if forgets:
            life.stored, life.older = {}, []
        if not forgets and all(before.get(name) == life.entry.get(name) for name in MEANING):
            return
        least, most = self._instant(before, life.entry, point)
        if before["live"] and not forgets:  # what has left it comes back if it keeps one day
            text = before["tql"], before["t0"], True, life.audiences(self.known)
            life.older = [stretch for stretch in life.older if stretch.live]
            life.older.append(Stretch(*text, least, most, sure=False))
        if not before["live"] and not forgets:
            sure = not entry["live"]
            self._end(life, life.audiences(self.known), least, most, before, sure=sure)
        life.again, life.cut, life.was_cut = True, False, False
        life.lost |= before["live"] != entry["live"]

    def _instant(self, before: Entry, entry: Entry, point: Point) -> tuple[int, int]:
        """Return between which instants a change took effect: exactly, if that was stored."""
        if entry["t0"] is not None and entry["t0"] != before["t0"]:
            return entry["t0"], entry["t0"]
        if entry.get("begun_at") is not None:
            return entry["begun_at"], entry["begun_at"]
        return self._around(entry["now"], point)

    def _around(self, now: int, point: Point) -> tuple[int, int]:
        """Return between which instants it was by the site's clock, which is ahead after a step."""
        clock = point.one("clock")
        if now >= self.latest or clock is None:
            return now, now + CLOSE
        return now, max(now, clock["last"])

    def _end(
        self,
        life: Life,
        audiences: frozenset[str],
        least: int,
        most: int,
        entry: Entry | None = None,
        *,
        sure: bool,
    ) -> None:
        entry = entry or life.entry
        if not sure:
            # What is left of older texts may be run for the old audiences, or for the new ones.
            life.older = [_unsure(stretch) for stretch in life.older]
        if not entry["live"]:
            text = entry["tql"], entry["t0"], False, audiences
            cut = life.cut or life.was_cut
            life.older.append(Stretch(*text, least, most, sure, cut, bool(entry.get("waits"))))

    def _forgotten(self, entry: Entry, point: Point) -> None:
        audience, before = entry["audience"], entry.get("before")
        for life in self.lives.values():
            seen = life.audiences(self.known)
            if audience not in seen:
                if any(audience in stretch.audiences for stretch in life.older):
                    # Its owner saw it until they left, and it may have found something by it.
                    life.older, life.forgotten = [*map(_unsure, life.older)], entry["now"]
                continue
            life.lost, life.forgotten = True, entry["now"]
            if before is None or life.entry["live"]:
                self._end(life, seen, *self._around(entry["now"], point), sure=False)
                life.again = True
            else:
                life.cut = True


def _unsure(stretch: Stretch, audiences: frozenset[str] | None = None) -> Stretch:
    """Return a stretch that may have been run, or not; perhaps for other audiences."""
    return replace(stretch, sure=False, audiences=audiences or stretch.audiences)
