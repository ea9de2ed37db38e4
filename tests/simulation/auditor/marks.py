"""Marks and keywords: what somebody sets by a mail program, or on a page, is so from then on.

marked read, or unread ─ answered ─> so is each match that was there, in all filters of the person
keyword set by IMAP ─ answered ─> its person's tag is on the message, for them alone; cleared: none
at a settled point ─> the keywords that a mail program is told are the tags of its person

What else may have changed it since is not judged: another act, an undoing, a filter that acts, a
mailbox that is kept in step.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from tests.simulation.auditor.findings import Finding
from tests.simulation.auditor.lives import Life
from tests.simulation.auditor.nodes import ANNOTATIONS
from tests.simulation.auditor.shelves import Desks
from tests.simulation.auditor.story import Entry, Known, Point, Row

LAW = "marks"

READS = {"read": True, "unread": False, "done": None, "snooze": None}
"""What makes messages read, or unread; of the others that is not judged."""

About = tuple[str, str]
"""A person and a Message-ID."""

_WORD = re.compile(r"[A-Za-z0-9]+")


class Marks:
    """What was marked, and with which keywords, followed through a history.

    ``wanted``: whether a message is to be read, None if nobody can say; ``tagged``: whether a
    keyword, in small letters, is to be there; ``elsewhere``: of what others said something as if
    they were the person.
    """

    def __init__(self, known: Known, desks: Desks) -> None:
        self.known, self.desks = known, desks
        self.before: dict[int, Row] = {}
        self.wanted: dict[About, bool | None] = {}
        self.tagged: dict[tuple[str, str, str], bool] = {}
        self.elsewhere: set[About] = set()

    def judge(self, point: Point, lives: dict[int, Life]) -> Iterator[Finding]:
        """Judge what was marked since the last point, and what is tagged at this one."""
        self.wanted.clear()
        self.tagged.clear()
        for entry in point.entries:
            yield from self._follow(point, entry)
        yield from self._read(point, lives)
        there = self._tags()
        for (person, msgid, keyword), to in self.tagged.items():
            if (keyword in there[person, msgid]) is not to:
                said = f"{msgid} has{' not' * to} the tag {keyword}, which {person} has"
                yield Finding(LAW, f"{said} {'set' if to else 'cleared'}", point.step)
        for look in point.seen.get("imap", []):
            for _, msgid, _, _, _, *more in look["rows"]:
                about = look["person"], msgid
                shown = {word.lower() for word in more[0]} if more else there[about]
                if shown != there[about] and about not in self.elsewhere:
                    said = f"{msgid} has the keywords {sorted(shown)} for {look['person']}"
                    yield Finding(LAW, f"{said}, and the tags {sorted(there[about])}", point.step)

    def _follow(self, point: Point, entry: Entry) -> Iterator[Finding]:
        match entry["what"]:
            case "submitted" if entry["table"] == ANNOTATIONS:
                for row in entry["rows"]:
                    self._said(entry, row)
                    is_keyword = entry.get("origin") == "keyword" and row["kind"] == "tag"
                    if is_keyword and row["audience"] != f"user:{row['owner']}":
                        said = f"{row['owner']} set the keyword {row['value']} for"
                        yield Finding(LAW, f"{said} {row['audience']}", point.step)
            case "act":
                self._act(entry)
            case "remind":
                self.wanted |= dict.fromkeys([(entry["person"], m) for m in entry["msgids"]])
            case "person" | "upkeep" | "fault" | "acts_undone":
                kinds = ("forget", "restore", "clock_step", None)
                if entry.get("kind") in kinds:
                    self.wanted = dict.fromkeys(self.wanted)
                    self.tagged.clear()

    def _said(self, entry: Entry, row: Row) -> None:
        """What was said of a message otherwise ends what is known of its keywords."""
        about = row.get("owner"), row.get("msgid")
        if entry.get("origin") != "keyword" and row["kind"] in ("tag", "retraction"):
            self.tagged = {key: to for key, to in self.tagged.items() if key[:2] != about}
        if entry.get("origin") == "append":
            self.elsewhere.add(about)

    def _act(self, entry: Entry) -> None:
        person, status = entry["person"], entry.get("status")
        sure = self.desks.sure.get(person, set())
        if entry["kind"] == "undo":
            self.wanted |= dict.fromkeys(about for about in self.wanted if about[0] == person)
        for msgid in entry.get("msgids", ()):
            if entry["kind"] in READS and (status is None or status < 400):
                certain = status is not None and msgid in sure
                self.wanted[person, msgid] = READS[entry["kind"]] if certain else None
            elif entry["kind"] == "keyword":
                key = person, msgid, entry["tag"].lower()
                self.tagged.pop(key, None)
                if status is not None:
                    self.tagged[key] = entry["is_set"]

    def _read(self, point: Point, lives: dict[int, Life]) -> Iterator[Finding]:
        """Judge whether the matches that were there before are read, or unread."""
        rows = point.rows("matches")
        if rows is None:
            return
        acted = set[About]()
        judged: list[tuple[About, Row]] = []
        for row in rows:
            life, before = lives.get(row["filter"]), self.before.get(row["key"], {})
            if life is None:
                continue
            about = life.entry["owner"], row["msgid"]
            if any(row.get(name) != before.get(name) for name in ("acts", "acted_at")):
                acted.add(about)
            elif before.get("listed") and before["stored_at"] == row["stored_at"]:
                judged.append((about, row))
        pulled = {msgid for msgid, _ in self.known.pulled}
        for about, row in judged:
            wanted: Any = self.wanted.get(about)
            if wanted is None or about in acted or row["msgid"] in pulled:
                continue
            if (row["read_at"] is not None) is not wanted:
                said = f"{about[0]} marked {about[1]} {'un' * (not wanted)}read, and filter"
                yield Finding(LAW, f"{said} {row['filter']} has it otherwise", point.step)
        self.before = {row["key"]: row for row in rows}

    def _tags(self) -> dict[About, set[str]]:
        """Return the tags that stand of each person and message, in small letters."""
        rows = self.known.rows[ANNOTATIONS].values()
        taken = {
            (row["value"], row["msgid"], row["owner"], row["audience"])
            for row in rows
            if row["kind"] == "retraction"
        }
        there: dict[About, set[str]] = defaultdict(set)
        for row in rows:
            named = (row["annid"], row["msgid"], row["owner"], row["audience"])
            is_tag = row["kind"] == "tag" and _WORD.fullmatch(row["value"] or "") is not None
            seen = is_tag and row["audience"] in self.known.audiences(row["owner"])
            if seen and named not in taken:
                there[row["owner"], row["msgid"]].add(row["value"].lower())
        return there
