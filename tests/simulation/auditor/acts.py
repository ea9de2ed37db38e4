"""What filters did with what they found: once for each match, and undone as a live one lets go.

matches that came ─ of a filter that acts, after it began to ─> starred and done, as of their acts
matches that left ─ nobody changed it since, no other act keeps it ─> not starred, not done
Where a person dealt with a message, or its filter changed, since the last point, nobody can say in
which order: its state is unsure then.  Whether it is read is judged as it comes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from tests.simulation.auditor.findings import Finding
from tests.simulation.auditor.lives import Life
from tests.simulation.auditor.shelves import ACTS, UNSURE, Desk, Desks
from tests.simulation.auditor.story import Entry, Point

LAW = "acts"
DONE = 302
"""The status of an answer that says that it was done."""

SETS = {"star": "starred", "top": "pinned", "skip": "skipped", "done": "done"}
"""The field of a state that an act sets."""

Pair = tuple[int, str]
Row = dict[str, Any]


@dataclass(slots=True)
class _Disturbed:
    """What else happened since the last point: to all, to some filters, people and messages."""

    everything: bool = False
    filters: set[int] = field(default_factory=set)
    people: set[str] = field(default_factory=set)
    messages: set[tuple[str, str]] = field(default_factory=set)

    def concerns(self, owner: str, msgid: str, filters: set[int]) -> bool:
        is_touched = owner in self.people or (owner, msgid) in self.messages
        return self.everything or is_touched or bool(filters & self.filters)


@dataclass(slots=True)
class _Moves:
    """Of one message of one person: the matches that came, and the filters that it left."""

    came: list[Row] = field(default_factory=list)
    left: set[int] = field(default_factory=set)
    is_acted: bool = False


class Acts:
    """What filters did, followed through a history.

    ``held``: by person, message and act, the instants since which filters hold a message so.
    ``never``: what a person undid or changed: the filter does not do it again.
    ``acting``: the filters that act, or did since the last point, each with its owner.
    """

    def __init__(self, desks: Desks) -> None:
        self.desks = desks
        self.rows: dict[Pair, Row] = {}
        self.held: dict[tuple[str, str, str], dict[int, int]] = {}
        self.never: set[tuple[int, str, str]] = set()
        self.of_step: dict[str, list[str]] = {}
        self.acting: dict[int, str] = {}

    def judge(self, point: Point, lives: dict[int, Life]) -> Iterator[Finding]:
        """Judge what was done up to a point, and take it in; desks have followed it."""
        disturbed = self._disturbed(point)
        seen = point.rows("matches")
        if seen is None:
            return
        now = {(row["filter"], row["msgid"]): row for row in seen}
        undone = set(self._undone(point))
        self.acting |= {
            entry["key"]: entry["owner"]
            for entry in point.entries
            if entry["what"] in ("filter", "filter_changed") and entry.get("acts")
        }
        for key in disturbed.filters & self.acting.keys() - lives.keys():
            # What a filter has done since the last point, before it was deleted, nobody knows.
            others = [msgid for _, msgid in now if (key, msgid) not in self.rows]
            self.desks.of(self.acting[key]).doubt(others)
        self.acting = {key: of.entry["owner"] for key, of in lives.items() if of.entry.get("acts")}
        for (owner, msgid), moves in self._moves(now, lives, undone).items():
            filters = {row["filter"] for row in moves.came} | moves.left
            desk = self.desks.of(owner)
            if disturbed.concerns(owner, msgid, filters):
                if moves.is_acted or any((owner, msgid, name) in self.held for name in SETS):
                    desk.doubt([msgid])
                continue
            yield from _judge_undone(point, moves, now, undone, msgid)
            if moves.is_acted and not filters:  # it came and left: a step of before is not undone
                desk.changed_by[msgid] = UNSURE
            for row in moves.came:
                yield from _judge_read(point, row, now, lives, owner, is_new=self._is_new(row))
            for name in SETS:
                yield from self._follow(point, desk, owner, msgid, name, moves, lives)
        self.rows = now

    def _is_new(self, row: Row) -> bool:
        return (row["filter"], row["msgid"]) not in self.rows

    def _disturbed(self, point: Point) -> _Disturbed:
        found = _Disturbed()
        for entry in point.entries:
            match entry["what"]:
                case "act" if entry["kind"] in ACTS:
                    for step in entry.get("step_made") or []:
                        self.of_step[step] = entry["msgids"]
                    msgids = entry.get("msgids") or self.of_step.get(entry.get("of", ""), [])
                    found.messages |= {(entry["person"], msgid) for msgid in msgids}
                case "remind":
                    found.messages |= {(entry["person"], msgid) for msgid in entry["msgids"]}
                case "upkeep" if entry["kind"] in ("forget", "restore"):
                    found.everything = True
                case "fault" if entry["kind"] == "clock_step":
                    found.everything = True
                case "person":
                    found.people.add(entry["name"])
                case "filter_changed":
                    found.filters.add(entry["key"])
                case "acts_undone" if not self._is_sure(entry):
                    found.people.add(entry["person"])
        return found

    def _is_sure(self, entry: Entry) -> bool:
        """Return whether it is known what was undone: it had been done at the last point."""
        pairs = [(entry["filter"], msgid) for msgid in entry["msgids"]]
        refused = entry["status"] is not None and entry["status"] >= 400
        return refused or (entry["status"] == DONE and all(pair in self.rows for pair in pairs))

    def _undone(self, point: Point) -> Iterator[Pair]:
        """Yield of which messages people have undone what a filter did; it does that never again.

        Where an answer was lost the filter counts as changed.
        """
        for entry in point.entries:
            if entry["what"] == "acts_undone" and entry["status"] == DONE:
                audiences = self.desks.known.audiences(entry["person"])
                for msgid in entry["msgids"]:
                    row = self.rows.get((entry["filter"], msgid))
                    if row is not None and row["audience"] in audiences:
                        yield entry["filter"], msgid

    def _moves(
        self, now: dict[Pair, Row], lives: dict[int, Life], undone: set[Pair]
    ) -> dict[tuple[str, str], _Moves]:
        """Return what came and left, by person and message; what was undone counts as left."""
        moves: dict[tuple[str, str], _Moves] = {}
        for pair in sorted(now.keys() | self.rows.keys()):
            life = lives.get(pair[0])
            if life is None:
                continue
            row, before = now.get(pair), self.rows.get(pair)
            was, is_there = _present(before), _present(row)
            is_same = was and is_there and before["stored_at"] == row["stored_at"]
            if pair in undone:
                moves.setdefault((life.entry["owner"], pair[1]), _Moves()).left.add(pair[0])
                self.never |= {(*pair, name) for name in SETS}
            if is_same or not (was or is_there or row != before):
                continue
            of_message = moves.setdefault((life.entry["owner"], pair[1]), _Moves())
            if was:
                of_message.left.add(pair[0])
            if is_there and row is not None:
                of_message.came.append(row)
            acted = [one for one in (row, before) if one is not None]
            of_message.is_acted |= any(one.get("acted_at") is not None for one in acted)
        return moves

    def _follow(
        self,
        point: Point,
        desk: Desk,
        owner: str,
        msgid: str,
        name: str,
        moves: _Moves,
        lives: dict[int, Life],
    ) -> Iterator[Finding]:
        """Follow one act on one message: what it is starred, or done, since then."""
        holders = self.held.setdefault((owner, msgid, name), {})
        state = desk.state(msgid)
        value = getattr(state, SETS[name])
        doing = [row for row in moves.came if _does(row, name, lives)]
        if value is UNSURE or (name == "done" and state.snoozed is UNSURE):
            return
        if name == "done" and doing and desk.changed_by.get(msgid) == ("reminder", point.now):
            desk.doubt([msgid])  # it was found before its reminder was given up, or after
            return
        is_own = value is not None and value not in holders.values()
        if value is None:  # what was taken back is not done again by those who had done it
            self.never |= {(key, msgid, name) for key in holders}
            holders.clear()
        for key in moves.left & holders.keys():
            if is_own:
                self.never.add((key, msgid, name))
            del holders[key]
        is_snoozed = name == "done" and state.snoozed is not None
        for row in doing:
            free = not is_own and (row["filter"], msgid, name) not in self.never
            stands = name in _standing(row)
            if stands != (free and not is_snoozed):
                said = f"filter {row['filter']} {'did' if stands else 'did not do'} “{name}” with"
                yield Finding(LAW, f"{said} {msgid}, which it had{' not' * stands} to", point.step)
                desk.doubt([msgid])
                return
            if stands:
                holders[row["filter"]] = row["acted_at"]
        if is_own or value in holders.values():
            return
        after = min(holders.values(), default=None)
        if after != value:
            desk.states[msgid] = replace(state, **{SETS[name]: after})
            desk.changed_by[msgid] = ("act", after)


def _judge_undone(
    point: Point, moves: _Moves, now: dict[Pair, Row], undone: set[Pair], msgid: str
) -> Iterator[Finding]:
    """What somebody has undone does not stand."""
    for key in moves.left:
        row = now.get((key, msgid))
        if (key, msgid) in undone and row is not None and _standing(row):
            said = f"filter {key} did with {msgid} what was undone"
            yield Finding(LAW, said, point.step)


def _judge_read(
    point: Point,
    row: Row,
    now: dict[Pair, Row],
    lives: dict[int, Life],
    owner: str,
    *,
    is_new: bool,
) -> Iterator[Finding]:
    """A message is read in all filters of a person once one has found it that marks it read."""
    acted = row.get("acted_at") is not None
    if acted and not (_begun(row, lives) and lives[row["filter"]].entry.get("acts")):
        said = f"filter {row['filter']} acted on {row['msgid']}, which it had not to"
        yield Finding(LAW, said, point.step)
    if not is_new or not _does(row, "read", lives):
        return
    mine = [
        one
        for (key, msgid), one in now.items()
        if msgid == row["msgid"] and key in lives and lives[key].entry["owner"] == owner
    ]
    if "read" not in _standing(row) or any(one["read_at"] is None for one in mine if _present(one)):
        said = f"{row['msgid']} is unread, and filter {row['filter']} marks it read"
        yield Finding(LAW, said, point.step)


def _does(row: Row, name: str, lives: dict[int, Life]) -> bool:
    """Return whether a filter does something with a match: if it began to before that matched."""
    entry: Entry = lives[row["filter"]].entry
    return name in (entry.get("acts") or "").split() and _begun(row, lives)


def _begun(row: Row, lives: dict[int, Life]) -> bool:
    since = lives[row["filter"]].entry.get("acts_since")
    return since is None or row["matched_at"] > since


def _standing(row: Row) -> set[str]:
    """Return what a filter did with a match, and did not undo."""
    acts = json.loads(row.get("acts") or "{}")
    return {name for name, became in acts.items() if became == "stands"}


def _present(row: Row | None) -> bool:
    return row is not None and row["retracted_at"] is None
