"""Mailboxes that mail programs read by IMAP: the lists of people, their flags, and their UIDs.

UIDVALIDITY and UID ─> one copy of a message for ever (RFC 3501, 2.3.1.1)
what is new ─────────> has no UID below the one that was said to be the next
at a settled point ──> what is in the list, read and starred as there
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.simulation.auditor.findings import Finding
from tests.simulation.auditor.lists import Copy, listed, unread_of
from tests.simulation.auditor.lives import Life
from tests.simulation.auditor.shelves import UNSURE, Desks
from tests.simulation.auditor.story import Entry, Known, Point

LAW = "mail programs"
FIELDS = {"starred": "starred", "done": "done"}

Mailbox = tuple[str, str, int]
"""A person, the name of a mailbox, and its UIDVALIDITY."""


class MailPrograms:
    """What mail programs were told, followed through a history."""

    def __init__(self, known: Known, desks: Desks) -> None:
        self.known, self.desks = known, desks
        self.copies: dict[Mailbox, dict[int, Copy]] = {}
        self.following: dict[Mailbox, int] = {}

    def judge(self, point: Point, lives: dict[int, Life]) -> Iterator[Finding]:
        """Judge what was told up to a settled point, and what was in mailboxes at it."""
        for entry in point.entries:
            if entry["what"] == "imap":
                yield from self._uids(point, entry)
        for look in point.seen.get("imap", []):
            yield from self._uids(point, look)
            if look["page"] == "shelf":
                yield from self._shelf(point, look)
            elif look["name"] in {"", *(life.entry["name"] for life in lives.values())}:
                yield from self._list(point, look, lives)

    def _uids(self, point: Point, look: Entry) -> Iterator[Finding]:
        mailbox = look["person"], look["mailbox"], look["uid_validity"]
        copies, following = self.copies.setdefault(mailbox, {}), self.following.get(mailbox, 1)
        now = {uid: (msgid, audience) for uid, msgid, audience, *_ in look["rows"]}
        for uid, copy in now.items():
            if uid in copies and copies[uid] != copy:
                said = f"{uid} is {copy[0]}, and was {copies[uid][0]}"
                yield self._finding(point, look, said)
            elif uid not in copies and uid < following:
                said = f"{copy[0]} is new as {uid}, below {following}, which was to be the next"
                yield self._finding(point, look, said)
        again = [copy[0] for copy, count in Counter(now.values()).items() if count > 1]
        if again or len(now) < len(look["rows"]):
            yield self._finding(point, look, f"a message is there twice: {again}")
        if look["next_uid"] < max(following, *(uid + 1 for uid in now), 1):
            said = f"the next is said to be {look['next_uid']}, and is not"
            yield self._finding(point, look, said)
        copies.update(now)
        self.following[mailbox] = look["next_uid"]

    def _list(self, point: Point, look: Entry, lives: dict[int, Life]) -> Iterator[Finding]:
        found, unsure = listed(point, look, lives, self.known, self.desks)
        yield from self._contents(point, look, set(found), unsure)
        unread, desk = unread_of(found), self.desks.of(look["person"])
        for _, msgid, _, seen, flagged in look["rows"]:
            starred = desk.state(msgid).starred
            if msgid in unsure:
                continue
            if seen is (msgid in unread):
                yield self._finding(point, look, f"{msgid} is {'un' * (not seen)}read")
            if starred is not UNSURE and flagged is (starred is None):
                yield self._finding(point, look, f"{msgid} is {'not ' * (not flagged)}starred")

    def _shelf(self, point: Point, look: Entry) -> Iterator[Finding]:
        person, field = look["person"], FIELDS[look["name"]]
        audiences, wanted, unsure = self.known.audiences(person), set[Copy](), set[str]()
        for msgid, state in self.desks.of(person).states.items():
            at: Any = getattr(state, field)
            if at is UNSURE or not self.known.has_copy(msgid, audiences):
                unsure.add(msgid)
            elif at is not None:
                wanted.add((msgid, ""))
        yield from self._contents(point, look, wanted, unsure)

    def _contents(
        self, point: Point, look: Entry, wanted: set[Copy], unsure: set[str]
    ) -> Iterator[Finding]:
        """What is in a mailbox is what is in the list; of a shelf the copy is not said."""
        is_shelf = look["page"] == "shelf"
        there = {(row[1], "" if is_shelf else row[2]) for row in look["rows"]}
        for said, copies in (("lacks", wanted - there), ("has", there - wanted)):
            if others := sorted({msgid for msgid, _ in copies} - unsure):
                wrongly = ", which is not to be there" if said == "has" else ""
                yield self._finding(point, look, f"it {said} {', '.join(others)}{wrongly}")

    def _finding(self, point: Point, look: Entry, said: str) -> Finding:
        return Finding(LAW, f"{look['mailbox']} of {look['person']}: {said}", point.step)
