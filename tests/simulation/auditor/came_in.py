"""What came in: every row that was given to the site is visible once, and no other is.

A message that comes again, with its Message-ID, for the same audience, is the same if it says the
same: then it is there once.  One that says something else is there too, under another key, which is
its Message-ID with ``copy:`` and a hash behind it.  What is forgotten is gone, and nothing else.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from tests.simulation.auditor.findings import Finding, short, when
from tests.simulation.auditor.nodes import ANNOTATIONS, MESSAGES, SETS
from tests.simulation.auditor.story import Entry, Known, Point
from tests.simulation.auditor.tables import COLUMNS
from tests.simulation.auditor.values import words

LAW = "what came in"
COPY = re.compile(r" copy:[0-9a-f]{32}\Z")
KEYS = {MESSAGES: "msgid", ANNOTATIONS: "annid"}

Row = dict[str, Any]
Key = tuple[str, str]


def message_id(key: str) -> str:
    """Return the Message-ID of a row by its key.

    >>> message_id("a@x.org copy:8c4a2bd3f6a1c2f5b0f6b8f1a0d8e7c6")
    'a@x.org'
    """
    return COPY.sub("", key)


def says(row: Row) -> tuple[Any, ...]:
    """Return what tells a message from another with its Message-ID."""
    prefix = re.compile(r"\s*(?:re|aw|sv|fwd?|antw) ?:", re.IGNORECASE)
    subject = row.get("subject") or ""
    while found := prefix.match(subject):
        subject = subject[found.end() :]
    texts = (words(subject), words(row.get("body") or ""))
    return ((row.get("sender") or "").lower(), *texts)


class Arrivals:
    """What was given to the site, by table and Message-ID (or annid) and audience.

    ``open`` are keys of which nobody can say whether they are there: their append ended with an
    error, or old mail of their audience was forgotten before they were seen.
    """

    def __init__(self) -> None:
        self.given: dict[str, dict[Key, list[Row]]] = {MESSAGES: {}, ANNOTATIONS: {}}
        self.forgotten: dict[str, dict[Key, list[Row]]] = {MESSAGES: {}, ANNOTATIONS: {}}
        self.open: set[tuple[str, Key]] = set()
        self.before: dict[str, dict[Key, Row]] = {MESSAGES: {}, ANNOTATIONS: {}}
        self.clock = -1

    def judge(self, point: Point, known: Known) -> Iterator[Finding]:
        """Judge the rows that are visible at a point against all that was given up to it."""
        if not any(point.rows("rows", table=table) is not None for table in KEYS):
            return
        forgotten: list[Entry] = []
        fresh: list[list[tuple[str, Key]]] = []
        for entry in point.entries:
            match entry["what"], entry.get("kind"):
                case "submitted", _:
                    fresh.append(self._give(entry))
                case "upkeep", "forget":
                    forgotten.append(entry)
                    self._forget(entry)
                case "upkeep", "restore":
                    self._open_all()
        for table in KEYS:
            there = known.rows[table]
            yield from self._doubled(point, table)
            yield from self._new(point, table, there)
            yield from self._lost(point, table, there)
            yield from self._gone(point, table, there, forgotten)
            self.before[table] = there
        if not forgotten:
            yield from _together(point, fresh, known)
        clock = point.one("clock")
        self.clock = clock["last"] if clock else self.clock

    def _give(self, entry: Entry) -> list[tuple[str, Key]]:
        """Take in what was given; return the keys that came for the first time."""
        table, fresh = entry["table"], []
        for row in entry["rows"]:
            key = row[KEYS[table]], row.get("audience") or "public"
            if key not in self.given[table]:
                fresh.append((table, key))
            self.given[table].setdefault(key, []).append(row)
            if "receipt" in entry and entry["receipt"] is None:
                self.open.add((table, key))
        return fresh if entry.get("origin") in ("append", "archive") else []

    def _forget(self, entry: Entry) -> None:
        for table, given in self.given.items():
            for key in [key for key in given if key[1] == entry["audience"]]:
                if entry.get("before") is None:
                    self.forgotten[table].setdefault(key, []).extend(given.pop(key))
                    self.open.discard((table, key))
                else:
                    self.open.add((table, key))

    def _open_all(self) -> None:
        """A backup may bring back anything, what was forgotten since as well."""
        for table, forgotten in self.forgotten.items():
            for key, rows in forgotten.items():
                self.given[table].setdefault(key, []).extend(rows)
        self.open |= {(table, key) for table, given in self.given.items() for key in given}
        self.before = {MESSAGES: {}, ANNOTATIONS: {}}
        self.clock = -1

    def _doubled(self, point: Point, table: str) -> Iterator[Finding]:
        rows = point.rows("rows", table=table) or []
        counts = Counter((row[KEYS[table]], row["audience"]) for row in rows)
        for (key, audience), count in sorted(counts.items()):
            if count > 1:
                said = f"{key} of {audience} is {count} times in {table}"
                yield Finding(LAW, said, point.step)

    def _new(self, point: Point, table: str, there: dict[Key, Row]) -> Iterator[Finding]:
        """No row was made up, none has changed, and none has slipped behind the clock."""
        for (key, audience), row in sorted(there.items()):
            before = self.before[table].get((key, audience))
            if before is not None and row["ts"] == before["ts"]:
                if row != before:
                    names = [n for n in COLUMNS[table] if row.get(n) != before.get(n)]
                    said = f"{short(row)} has changed: {', '.join(names)}"
                    yield Finding(LAW, said, point.step)
                continue
            name = message_id(key) if table == MESSAGES else key
            given = self.given[table].get((name, audience), [])
            if not any(_is_row_of(table, row, one) for one in given):
                said = f"{short(row)} is in {table}, and was never given so"
                yield Finding(LAW, said, point.step)
            if row["ts"] <= self.clock:
                said = f"{short(row)} came behind the clock, which stood at {when(self.clock)}"
                yield Finding(LAW, said, point.step)
            if table == MESSAGES and row["received"] > row["ts"]:
                yield Finding(LAW, f"{short(row)} was received after it came", point.step)

    def _lost(self, point: Point, table: str, there: dict[Key, Row]) -> Iterator[Finding]:
        """What was given is there, each of its contents once."""
        found: dict[Key, list[Row]] = defaultdict(list)
        for (name, audience), row in there.items():
            found[message_id(name) if table == MESSAGES else name, audience].append(row)
        for key, given in sorted(self.given[table].items()):
            contents = {says(row) for row in given} if table == MESSAGES else {()}
            rows = found.get(key, [])
            if len(rows) < len(contents) and (table, key) not in self.open:
                said = f"{short(given[0])} came with {len(contents)} contents, and {len(rows)} are"
                yield Finding(LAW, f"{said} in {table}", point.step)
            elif len(rows) > len(contents):
                said = "; ".join(short(row) for row in rows)
                yield Finding(LAW, f"the same is more than once in {table}: {said}", point.step)

    def _gone(
        self, point: Point, table: str, there: dict[Key, Row], forgotten: list[Entry]
    ) -> Iterator[Finding]:
        """Of old mail, what was forgotten is gone, and nothing else is."""
        for entry in forgotten:
            if entry.get("before") is None:
                continue
            for key, row in sorted(self.before[table].items()):
                same = key in there and there[key]["ts"] == row["ts"]
                if key[1] == entry["audience"] and row["ts"] < entry["before"] and same:
                    said = f"{short(row)} was to be forgotten, before {when(entry['before'])}"
                    yield Finding(LAW, said, point.step)
        limits: dict[str, int] = {}
        for entry in forgotten:
            before = entry["before"] if entry.get("before") is not None else 1 << 62
            limits[entry["audience"]] = max(before, limits.get(entry["audience"], 0))
        for key, row in sorted(self.before[table].items()):
            if key not in there and row["ts"] >= limits.get(key[1], 0) and key in self.given[table]:
                yield Finding(LAW, f"{short(row)} is gone from {table}", point.step)


def _is_row_of(table: str, row: Row, given: Row) -> bool:
    """Return whether a visible row is what was given, but for its key and its instants."""
    for name in COLUMNS[table]:
        if name in (KEYS[table], "ts", "audience") or name not in given:
            continue
        wanted = given[name]
        if name == "received":
            wanted = row["ts"] if wanted is None else min(wanted, row["ts"])
        if name == "starts" and wanted is None:
            wanted = row["ts"]
        if name in SETS:
            if sorted(row[name] or ()) != sorted(wanted or ()):
                return False
        elif row[name] != wanted:
            return False
    return True


def _together(
    point: Point, batches: list[list[tuple[str, Key]]], known: Known
) -> Iterator[Finding]:
    """The rows of one append that came for the first time became visible at one instant."""
    for batch in batches:
        stamps: dict[int, str] = {}
        for table, key in batch:
            there = known.rows[table].get(key)
            if there is not None:
                stamps.setdefault(there["ts"], key[0])
        if len(stamps) > 1:
            said = ", ".join(f"{name} at {when(ts)}" for ts, name in sorted(stamps.items()))
            yield Finding(LAW, f"one append became visible in parts: {said}", point.step)
