"""Mailboxes of the outside, in memory: folders, UIDs, flags (RFC 3501), as a site's clients ask.

A request names the user, the open folder and its UIDVALIDITY, so the server keeps no sessions.
"""

from __future__ import annotations

import email
import email.policy
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from tests.simulation.history import History

OK = "ok"


class NoError(Exception):
    """The server answers NO, with these words."""


class CutError(Exception):
    """The server closes the connection."""


@dataclass(slots=True)
class Stored:
    """A message in a folder; ``at`` is its INTERNALDATE."""

    uid: int
    raw: bytes
    flags: set[str]
    at: int


@dataclass(slots=True)
class Folder:
    """A folder; ``changes`` is its HIGHESTMODSEQ."""

    validity: int
    next: int = 1
    changes: int = 1
    messages: list[Stored] = field(default_factory=list)

    def put(self, raw: bytes, flags: set[str], at: int) -> Stored:
        stored = Stored(self.next, raw, flags, at)
        self.messages.append(stored)
        self.next += 1
        self.changes += 1
        return stored

    def of(self, uids: list[int]) -> list[Stored]:
        return [stored for stored in self.messages if stored.uid in uids]

    def renumber(self, validity: int) -> None:
        """Give all messages new UIDs: those of before mean nothing any more."""
        self.validity, self.changes = validity, 1
        for uid, stored in enumerate(self.messages, 1):
            stored.uid = uid
        self.next = len(self.messages) + 1


@dataclass(slots=True)
class Mailbox:
    """A mailbox of a person, on a server that has some of the extensions.

    ``acts``: it is one in which filters act, and nothing else is put.  ``trash`` is the folder
    that has this special use (RFC 6154), if there is one.
    """

    user: str
    owner: str
    capabilities: frozenset[str]
    delimiter: str
    prefix: str
    keywords: bool
    acts: bool = False
    trash: str = ""
    folders: dict[str, Folder] = field(default_factory=dict)


class Mailboxes:
    """All mailboxes, by their users; ``lots`` decides what each server is like.

    ``heard`` is how much of the history was looked at for ``groups``, those of each person.
    """

    def __init__(self, history: History, lots: random.Random) -> None:
        self.history, self.lots = history, lots
        self.boxes: dict[str, Mailbox] = {}
        self.validity, self.heard = 100, 0
        self.groups: dict[str, list[str]] = {}

    def make(self, owner: str) -> Mailbox:
        """Make a mailbox of a person."""
        lots, user = self.lots, f"{owner.lower()}.{len(self.boxes) + 1}"
        names = [
            name
            for name in ("CONDSTORE", "MOVE", "UIDPLUS", "NAMESPACE")
            if lots.random() < (0.8 if name == "UIDPLUS" else 0.5)
        ]
        delimiter, prefix = lots.choice((("/", ""), (".", ""), (".", "INBOX.")))
        if prefix:
            names.append("NAMESPACE")
        box = Mailbox(user, owner, frozenset(names), delimiter, prefix, lots.random() < 0.8)
        self.boxes[user] = box
        box.trash = f"{prefix}Trash" if lots.random() < 0.7 else ""
        for name in filter(None, ("INBOX", f"{prefix}lists", box.trash)):
            box.folders[name] = Folder(self.new_validity())
        return box

    def new_validity(self) -> int:
        self.validity += 1
        return self.validity

    def answer(self, request: dict[str, Any], fault: dict[str, Any] | None) -> dict[str, Any]:
        """Return the answer to a request, as a client gets it; a fault is how it goes wrong."""
        fault = fault or {}
        do, words = request["do"], fault.get("words", "")
        if fault.get("answer") == "refuse":
            return {"answer": "no", "words": words or _refusal(do)}
        if fault.get("answer") in ("cut", "hang"):
            return fault
        lost = fault.get("answer") == "accept, then cut"
        box = self.boxes.get(request["user"])
        try:
            if box is None:
                raise NoError("[AUTHENTICATIONFAILED] nobody")
            value = getattr(self, f"_{do}")(box, lost=lost, **request["with"])
        except NoError as error:
            return {"answer": "no", "words": str(error)}
        except CutError:
            return {"answer": "cut"}
        return {"answer": "cut"} if lost else {"answer": OK, "value": value}

    # What a client asks.

    def _login(self, box: Mailbox, *, lost: bool) -> dict[str, Any]:
        return {"capabilities": sorted(box.capabilities), "keywords": box.keywords}

    def _list(self, box: Mailbox, *, first: str, lost: bool) -> list[tuple[list[str], str, str]]:
        uses = {box.trash: ["\\Trash"]}
        named = [name for name in box.folders if name.startswith(first)]
        return [(uses.get(name, []), box.delimiter, name) for name in named]

    def _namespace(self, box: Mailbox, *, lost: bool) -> tuple[str, str]:
        return box.prefix, box.delimiter

    def _status(self, box: Mailbox, *, name: str, lost: bool) -> dict[str, int]:
        folder = _folder(box, name)
        return {
            "UIDVALIDITY": folder.validity,
            "UIDNEXT": folder.next,
            "EXISTS": len(folder.messages),
            "HIGHESTMODSEQ": folder.changes if "CONDSTORE" in box.capabilities else 0,
        }

    def _search(
        self, box: Mailbox, *, name: str, validity: int, criteria: list[Any], lost: bool
    ) -> list[int]:
        messages = _opened(box, name, validity).messages
        return [one.uid for one in messages if _meets(one, criteria, messages)]

    def _fetch(
        self, box: Mailbox, *, name: str, validity: int, uids: list[int], lost: bool
    ) -> list[tuple[int, bytes, list[str], int]]:
        found = _opened(box, name, validity).of(uids)
        return [(one.uid, one.raw, sorted(one.flags), one.at) for one in found]

    def _append(
        self, box: Mailbox, *, name: str, raw: bytes, flags: list[str], at: int, lost: bool
    ) -> None:
        folder = _folder(box, name)
        if not box.keywords and any(not flag.startswith("\\") for flag in flags):
            raise NoError("no keywords here")
        folder.put(raw, set(flags), at)
        self._tell(box, name, "append", raw, flags, lost=lost)

    def _create(self, box: Mailbox, *, name: str, lost: bool) -> None:
        if name in box.folders:
            raise NoError("[ALREADYEXISTS] it is there")
        box.folders[name] = Folder(self.new_validity())

    def _transfer(
        self,
        box: Mailbox,
        *,
        name: str,
        validity: int,
        uids: list[int],
        target: str,
        move: bool,
        lost: bool,
    ) -> None:
        folder, other = _opened(box, name, validity), _folder(box, target)
        for one in folder.of(uids):
            other.put(one.raw, set(one.flags), one.at)
            if move:
                folder.messages.remove(one)
                folder.changes += 1
            if not box.acts:
                how = "move" if move else "copy"
                self._tell(box, target, how, one.raw, sorted(one.flags), lost)

    def _store(
        self, box: Mailbox, *, name: str, validity: int, uids: list[int], flags: list[str],
        to: bool, lost: bool,
    ) -> None:  # fmt: skip
        folder = _opened(box, name, validity)
        for one in folder.of(uids):
            one.flags = one.flags | set(flags) if to else one.flags - set(flags)
            folder.changes += 1

    def _expunge(
        self, box: Mailbox, *, name: str, validity: int, uids: list[int], lost: bool
    ) -> None:
        folder = _opened(box, name, validity)
        for one in folder.of(uids):
            if "\\Deleted" in one.flags:
                folder.messages.remove(one)
                folder.changes += 1

    def _tell(
        self, box: Mailbox, name: str, how: str, raw: bytes, flags: list[str], lost: bool
    ) -> None:
        answer = "accept, then cut" if lost else OK
        told = {"endpoint": "imap", "answer": answer, "accepted": True, "recipient": box.user}
        payload = {**contents(raw), "flags": sorted(flags)}
        self.history.add("received", **told, folder=name, how=how, payload=payload)

    def observe(self) -> None:
        """Write down what is in each folder that a site has made, or could have."""
        for box in self.boxes.values():
            folders = {
                name: [{**contents(one.raw), "flags": sorted(one.flags)} for one in at.messages]
                for name, at in sorted(box.folders.items())
            }
            self.history.add("seen", kind="mailbox", user=box.user, folders=folders)


def _refusal(do: str) -> str:
    return "[UNAVAILABLE] later" if do != "append" else "[OVERQUOTA] it is full"


def _folder(box: Mailbox, name: str) -> Folder:
    if name not in box.folders:
        raise NoError("[NONEXISTENT] no such folder")
    return box.folders[name]


def _opened(box: Mailbox, name: str, validity: int) -> Folder:
    """Return the folder that a client has opened; one with other numbers by now is closed."""
    folder = box.folders.get(name)
    if folder is None or folder.validity != validity:
        raise CutError
    return folder


def _meets(one: Stored, criteria: list[Any], messages: list[Stored]) -> bool:
    match criteria:
        case []:
            return True
        case ["UID", numbers]:
            return one.uid in _numbers(numbers, max((other.uid for other in messages), default=0))
        case ["HEADER", "Message-ID", wanted]:
            return wanted.decode().lower() in f"<{contents(one.raw)['msgid']}>".lower()
        case ["LARGER", low, "SMALLER", high]:
            return bool(low < len(one.raw) < high)
        case ["KEYWORD", name]:
            return name.lower() in {flag.lower() for flag in one.flags}
    raise NoError(f"[CANNOT] search for {criteria}")


def _numbers(text: str, last: int) -> range:
    first, _, end = (str(last) if part == "*" else part for part in text.partition(":"))
    low, high = sorted((int(first), int(end or first)))
    return range(low, high + 1)


@lru_cache(maxsize=4096)
def _contents(raw: bytes) -> tuple[tuple[str, Any], ...]:
    return tuple(_read(raw))


def _read(raw: bytes) -> Iterator[tuple[str, Any]]:
    message = email.message_from_bytes(raw, policy=email.policy.default)
    yield "msgid", str(message["Message-ID"] or "").strip("<> ")
    sender = message["From"]
    addresses = sender.addresses if sender is not None else ()
    yield "sender", addresses[0].addr_spec if addresses else None
    for header in ("to", "cc"):
        value = message[header]
        boxes = value.addresses if value is not None else ()
        yield header, [box.addr_spec for box in boxes]
        yield f"{header}_names", [box.display_name for box in boxes if box.display_name]
    files = list(message.iter_attachments())
    yield "attachments", len(files)
    yield "filenames", [name for file in files if (name := file.get_filename())]
    yield "media_types", sorted({file.get_content_type() for file in files})
    yield "inreplyto", str(message["In-Reply-To"] or "").strip("<> ") or None
    yield "subject", None if message["Subject"] is None else str(message["Subject"])
    body = message.get_body(("plain",))
    text = "" if body is None else str(body.get_content()).replace("\r\n", "\n")
    yield "body", text
    yield "diff_paths", re.findall("(?m)^diff --git a/(.*) b/", text)
    number = re.match(r"\[(?:RFC )?PATCH(?: v2)?(?: ([0-9]))?", str(message["Subject"] or ""))
    yield "patch", int(number[1] or 1) if number else None
    yield "questions", text.count("?")
    yield "automatic", "reply" if message["Auto-Submitted"] == "auto-replied" else None


def contents(raw: bytes) -> dict[str, Any]:
    """Return what a message says, in the columns of the table of messages."""
    return dict(_contents(raw))
