"""Mailboxes that mail programs read by IMAP and JMAP: the lists of people, their flags, their ids.

UIDVALIDITY and UID ─> one copy of a message for ever (RFC 3501, 2.3.1.1)
what is new ─────────> has no UID below the one that was said to be the next
id of an Email ──────> one copy for ever; what has changed since a state is told (RFC 8620, 5.2)
at a settled point ──> what is in the list, read and starred as there; by JMAP read if it is in all
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.simulation.auditor.findings import Finding
from tests.simulation.auditor.lists import Copy, listed
from tests.simulation.auditor.lives import Life
from tests.simulation.auditor.shelves import UNSURE, Desks
from tests.simulation.auditor.story import Entry, Known, Point

LAW = "mail programs"
FIELDS = {"starred": "starred", "done": "done"}

Mailbox = tuple[str, str, int]
"""A person, the name of a mailbox, and its UIDVALIDITY."""


@dataclass(slots=True)
class Emails:
    """What a program of JMAP was told of Emails, by id, and which have changed since."""

    told: dict[str, tuple[Copy, list[bool]]] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)


class MailPrograms:
    """What mail programs were told, followed through a history."""

    def __init__(self, known: Known, desks: Desks) -> None:
        self.known, self.desks = known, desks
        self.copies: dict[Mailbox, dict[int, Copy]] = {}
        self.following: dict[Mailbox, int] = {}
        self.emails: dict[tuple[str, int], Emails] = {}

    def judge(self, point: Point, lives: dict[int, Life]) -> Iterator[Finding]:
        """Judge what was told up to a settled point, and what was in mailboxes at it."""
        for entry in point.entries:
            if entry["what"] == "imap":
                yield from self._uids(point, entry)
            elif entry["what"] == "jmap":
                yield from self._ids(point, entry)
        looks = [*point.seen.get("imap", []), *point.seen.get("jmap", [])]
        for look in looks:
            yield from (self._uids if look["kind"] == "imap" else self._ids)(point, look)
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

    def _ids(self, point: Point, look: Entry) -> Iterator[Finding]:
        """An id is of one copy; whose flags are others than before has changed since."""
        emails = self.emails.setdefault((look["person"], look["validity"]), Emails())
        changed = look["changed"] or {"changed": [], "gone": []}
        emails.changed |= {*changed["changed"]}
        for name, msgid, audience, *flags in look["rows"]:
            now = (msgid, audience), flags
            copy, before = emails.told.get(name, now)
            if copy != now[0]:
                yield self._finding(point, look, f"{name} is {msgid}, and was {copy[0]}")
            elif flags != before and name not in emails.changed:
                yield self._finding(point, look, f"{msgid} has changed, and nothing says so")
            if name in changed["gone"]:
                yield self._finding(point, look, f"{msgid} is there, and is said to be gone")
            emails.told[name] = now
            emails.changed.discard(name)

    def _list(self, point: Point, look: Entry, lives: dict[int, Life]) -> Iterator[Finding]:
        found, unsure = listed(point, look, lives, self.known, self.desks)
        yield from self._contents(point, look, set(found), unsure)
        rows, desk = [row for rows in found.values() for row in rows], self.desks.of(look["person"])
        if look["kind"] == "jmap":
            rows = self._visible(point, look, lives)
        unread = {(row["msgid"], row["audience"]) for row in rows if row["read_at"] is None}
        for _, msgid, audience, seen, flagged, *_ in look["rows"]:
            starred = desk.state(msgid).starred
            if msgid in unsure:
                continue
            if seen is ((msgid, audience) in unread):
                yield self._finding(point, look, f"{msgid} is {'un' * (not seen)}read")
            if starred is not UNSURE and flagged is (starred is None):
                yield self._finding(point, look, f"{msgid} is {'not ' * (not flagged)}starred")

    def _visible(self, point: Point, look: Entry, lives: dict[int, Life]) -> list[Entry]:
        """Return the matches that are in any list of a person, hidden or not."""
        audiences, now = self.known.audiences(look["person"]), look["now"]
        mine = {key for key, life in lives.items() if life.entry["owner"] == look["person"]}
        return [
            row
            for row in point.rows("matches") or []
            if row["filter"] in mine
            and row["listed"]
            and row["retracted_at"] is None
            and row["audience"] in audiences
            and (row["shown_at"] <= row["stored_at"] or row["shown_at"] <= now)
        ]

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
