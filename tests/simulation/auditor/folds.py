"""What new filters find in mail of before: one line of the inbox for each, until it is opened.

written with existing mail, not to show it long after ─> its matches up to then are one line
its line says how many of them the inbox would show
found in mail that was seen before the filter was written ─> it arrives read
opened by its owner ─> they are lines of their own from then on, and stay so
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.simulation.auditor.findings import Finding
from tests.simulation.auditor.lists import LAW, is_muted
from tests.simulation.auditor.lives import Life
from tests.simulation.auditor.shelves import Desks
from tests.simulation.auditor.story import Entry, Known, Point, Row

DONE = 302


@dataclass(slots=True)
class Folds:
    """Which filters were opened, and of which nobody can say, followed through a history.

    ``written``: when the newest mail came that was seen before a filter was written; ``newest``:
    that at the last point; ``found``: the matches that were there.
    """

    known: Known
    desks: Desks
    opened: set[int] = field(default_factory=set)
    unsure: set[int] = field(default_factory=set)
    written: dict[int, int] = field(default_factory=dict)
    newest: int = 0
    found: set[int] = field(default_factory=set)

    def judge(self, point: Point, lives: dict[int, Life]) -> Iterator[Finding]:
        """Judge which filters fold what they found, and what the lines of the inbox say."""
        new: dict[int, Entry] = {}
        for entry in point.entries:
            self._follow(entry, lives)
            if entry["what"] == "filter" and "asked" in entry:
                new[entry["key"]] = entry
            elif entry["what"] == "filter_changed":
                new.pop(entry["key"], None)
        yield from self._judge_found(point, lives)
        rows = [row for row in point.rows("filters") or [] if "folds_before" in row]
        for row in rows:
            if row["key"] in new:
                yield from _judge_new(point, row, new[row["key"]]["asked"])
            is_open = row["unfolded_at"] is not None
            if row["key"] not in self.unsure and is_open != (row["key"] in self.opened):
                said = "was opened in" if is_open else "is still one line of"
                yield Finding(LAW, f"filter {row['key']} {said} the inbox, unasked", point.step)
        for look in point.seen.get("page", []):
            if look["page"] == "inbox" and "folded" in look:
                yield from self._judge_lines(point, look, rows, lives)

    def _follow(self, entry: Entry, lives: dict[int, Life]) -> None:
        match entry["what"]:
            case "filter":
                self.written[entry["key"]] = self.newest
            case "unfold" if entry["status"] == DONE:
                self.opened.add(entry["filter"])
            case "unfold" if entry["status"] is None:
                self.unsure.add(entry["filter"])
            case "upkeep" if entry["kind"] == "restore":
                self.unsure |= lives.keys()
                self.written.clear()
            case "filter_changed" if entry.get("forget"):
                self.unsure.add(entry["key"])

    def _judge_found(self, point: Point, lives: dict[int, Life]) -> Iterator[Finding]:
        """Judge whether what is of before arrived read, if nobody did anything with it since.

        What is in a mailbox may be unread there, and is so here then.
        """
        touched = {msgid for msgid, _ in self.known.pulled}
        for entry in point.entries:
            if entry["what"] in ("act", "remind"):
                touched.update(entry.get("msgids", ()))
        unsure = any(entry.get("kind") == "undo" for entry in point.entries)
        for row in point.rows("matches") or []:
            is_new = row["key"] not in self.found
            self.found.add(row["key"])
            at = self.written.get(row["filter"], -1)
            is_judged = is_new and not unsure and row["filter"] in lives
            if not is_judged or row["matched_at"] > at or row["msgid"] in touched:
                continue
            if row["read_at"] is None and row.get("acted_at") is None:
                words = f"filter {row['filter']} found {row['msgid']}, which was there before it"
                yield Finding(LAW, f"{words}, and it is unread", point.step)
        self.newest = self.known.newest

    def _judge_lines(
        self, point: Point, look: Entry, filters: list[Row], lives: dict[int, Life]
    ) -> Iterator[Finding]:
        person, now = look["person"], look["now"]
        audiences, desk = self.known.audiences(person), self.desks.of(person)
        before = {
            row["key"]: row["folds_before"]
            for row in filters
            if row["folds_before"] is not None and row["unfolded_at"] is None
        }
        counts, unsure = Counter[str](), set[str]()
        for row in point.rows("matches") or []:
            life, at = lives.get(row["filter"]), before.get(row["filter"])
            if life is None or life.entry["owner"] != person or at is None:
                continue
            shown = row["shown_at"] <= row["stored_at"] or row["shown_at"] <= now
            stays = row["listed"] and row["retracted_at"] is None and row["audience"] in audiences
            if not (shown and stays and row["matched_at"] <= at):
                continue
            hidden = desk.state(row["msgid"]).hidden(now, inbox=True)
            muted = is_muted(desk, self.known, person, row["msgid"])
            if None in (hidden, muted):
                unsure.add(life.entry["name"])
            counts[life.entry["name"]] += not (hidden or muted)
        for name in sorted({*counts, *look["folded"]} - unsure):
            said, wanted = look["folded"].get(name, 0), counts[name]
            if said != wanted:
                words = f"the inbox of {person} says that {name} found {said} of before"
                yield Finding(LAW, f"{words}, and not {wanted}", point.step)


def _judge_new(point: Point, row: Row, asked: Entry) -> Iterator[Finding]:
    folds = asked["mail"] == "existing" and not asked["timeliness"].startswith("after")
    if folds is (row["folds_before"] is None):
        said = f"filter {row['key']} makes {'no' if folds else 'a'} line of what is of before"
        yield Finding(LAW, said, point.step)
