"""Letters: each is sent once, not before its time, then soon, and not after it was taken back.

The time is that of its writer's clock: what a gap skips is read with the offset before it, of what
comes twice the first.  A letter that a server took without an answer, or whose sender ended before
that was stored, may come again as the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from tests.simulation.auditor.findings import Finding, instant_of, when
from tests.simulation.auditor.story import Entry, Point

LAW = "letters"


class Letters:
    """What people wrote to be sent later, and what servers took of it, by Message-ID."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        self.texts: dict[str, tuple[str, bool]] = {}
        self.taken: dict[str, int] = {}
        self.back: set[str] = set()
        self.excuses: dict[str, int] = {}

    def judge(self, point: Point) -> Iterator[Finding]:
        """Judge what was sent up to a point, and what was not."""
        for entry in point.entries:
            match entry["what"]:
                case "letter":
                    yield from self._written(entry)
                case "received" if entry["endpoint"] == "smtp" and entry["accepted"]:
                    yield from self._received(entry)
                case "fault":
                    self.excuses = {name: count + 1 for name, count in self.excuses.items()}
                case "upkeep" if entry["kind"] in ("restore", "forget"):
                    self.rows.clear()
                case "letters":
                    yield from self._standing(entry, point)

    def _written(self, entry: Entry) -> Iterator[Finding]:
        row = entry["row"]
        if entry["kind"] == "write":
            self.texts[entry["uid"]] = entry.get("body") or "", bool(entry.get("formatted"))
        before = self.rows.pop(entry["uid"], None)
        if entry["kind"] == "take back" and row is not None:
            if row["state"] == "draft" and before is not None:
                self.back.add(before["message_id"])
            elif row["state"] == "queued" and entry["by"] == "jmap" and entry["status"] == 200:
                sentence = f"{row['message_id']} was taken back, and waits to be sent"
                yield Finding(LAW, sentence, entry["step"])
        if row is None or row["state"] != "queued":
            return
        self.rows[entry["uid"]] = row
        if entry["status"] == 302 and entry["chosen"] and entry["kind"] == "write":
            wanted = instant_of(entry["chosen"], entry["zone"])
            if row["send_at"] != wanted:
                said = f"a letter for {when(wanted)} waits until {when(row['send_at'] or 0)}"
                yield Finding(LAW, said, entry["step"])

    def _received(self, entry: Entry) -> Iterator[Finding]:
        if "Resent-Message-ID" in entry["payload"]["headers"]:  # a filter's reader has it forwarded
            return
        name = (entry["message_id"] or "").strip("<>")
        uid = next((uid for uid, row in self.rows.items() if row["message_id"] == name), None)
        if name in self.back:
            yield Finding(LAW, f"{name} was sent, and had been taken back", entry["step"])
        if uid is None:
            return
        row = self.rows[uid]
        if "html" in entry["payload"] and uid in self.texts:
            yield from _judge_text(name, entry, *self.texts[uid])
        if entry["now"] < (row["send_at"] or 0):
            said = f"{name} was sent at {when(entry['now'])}, before {when(row['send_at'])}"
            yield Finding(LAW, said, entry["step"])
        self.taken[name] = self.taken.get(name, 0) + 1
        excuses = self.excuses.setdefault(name, 0)
        if self.taken[name] > 1 + excuses:
            yield Finding(LAW, f"{name} was sent {self.taken[name]} times", entry["step"])
        self.excuses[name] += entry["answer"] != "ok"

    def _standing(self, entry: Entry, point: Point) -> Iterator[Finding]:
        """At a settled point, what was to be sent is sent."""
        there = {row["uid"]: row for row in entry["rows"]}
        for uid, row in self.rows.items():
            now = there.get(uid)
            is_due = (row["send_at"] or 0) <= point.now
            if now is None or not is_due or now["message_id"] != row["message_id"]:
                continue
            if now["state"] == "queued" or row["message_id"] not in self.taken:
                said = f"{row['message_id']} was to be sent at {when(row['send_at'] or 0)}"
                yield Finding(LAW, f"{said}, and is {now['state']}", point.step)


def _judge_text(name: str, entry: Entry, body: str, is_formatted: bool) -> Iterator[Finding]:
    """A letter says what its writer wrote, and beside it the same as HTML if it is formatted."""
    text, html = entry["payload"]["text"], entry["payload"]["html"]
    if _words(text) != _words(body):
        yield Finding(LAW, f"{name} says {text!r}, and was written {body!r}", entry["step"])
    if bool(html) is not is_formatted:
        said = "no HTML beside its text" if is_formatted else "HTML that nobody asked for"
        yield Finding(LAW, f"{name} has {said}", entry["step"])
    elif is_formatted:
        shown = unescape(_TAG.sub("", html))
        marks = [mark for mark in _MARKS if mark in body and mark in shown]
        if marks or _words(shown) != _words(_TARGET.sub("]", body)):
            yield Finding(LAW, f"{name} looks as {shown!r}, of {body!r}", entry["step"])


_MARKS = ("*", "#", "`", "](")
_TAG, _TARGET, _WORD = re.compile(r"<[^>]*>"), re.compile(r"\]\([^)]*\)"), re.compile(r"\w+")


def _words(text: str) -> list[str]:
    return _WORD.findall(text)
