"""A person's own mailbox, on a real server, that the site may change; and steps that are killed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from filters.people.models import User
from filters.sources.accounts.credentials import keep_secret
from filters.sources.models import Source
from filters.sources.pull import pulling
from tapestry.servers.imap import UNREADABLE
from tests.support.servers.dovecot import PASSWORD, USER, Dovecot


class KilledError(BaseException):
    """The process ends here."""


def mailbox_of(owner: User, dovecot: Dovecot, **allowed: bool) -> Source:
    """Store the mailbox of a person, with what they allow in it."""
    made = Source(owner=owner, kind="imap", host="127.0.0.1", port=dovecot.port, security="none")
    made.user, made.audience, made.active = USER, f"user:{owner.get_username()}", True
    made.folder_patterns = ["INBOX"]
    keep_secret(made, PASSWORD)
    for name, is_allowed in allowed.items():
        setattr(made, name, is_allowed)
    made.save()
    return made


def come(dovecot: Dovecot, source: Source, *names: str) -> None:
    dovecot.put("INBOX", *(mail(name) for name in names))
    pulling.pull(source)


def mail(name: str) -> bytes:
    return (
        f"Message-ID: <{name}@x.org>\r\nFrom: joe@x.org\r\nSubject: {name}\r\n\r\nHi\r\n".encode()
    )


def content(dovecot: Dovecot) -> dict[str, tuple[str, set[str]]]:
    """Return the folder and the flags of each message; each is once in the whole mailbox."""
    found: dict[str, tuple[str, set[str]]] = {}
    with dovecot.session() as client:
        for flags, _, folder in client.list_folders():
            if {flag.lower() for flag in flags} & UNREADABLE:
                continue
            client.select_folder(folder, readonly=True)
            fetched = (
                client.fetch(client.search(), ["ENVELOPE", "FLAGS"]) if client.search() else {}
            )
            for row in fetched.values():
                name = row[b"ENVELOPE"].subject.decode()
                assert name not in found, f"{name} is there twice"
                found[name] = (folder, {flag.decode() for flag in row[b"FLAGS"]} - {"\\Recent"})
    return found


class Killer:
    """Ends the process after so many steps: requests to the server, and rows that are stored."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *steps: tuple[Any, str]) -> None:
        self.left, self.steps = 0, Counter[str]()
        for place, name in steps:
            monkeypatch.setattr(place, name, self.wrapped(name, getattr(place, name)))

    def wrapped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            answer = real(*arguments, **options)
            self.steps[name] += 1
            self.left -= 1
            if self.left == 0:
                raise KilledError
            return answer

        return call

    def killed_once(self, after: int, work: Callable[[], None]) -> bool:
        """Do some work, killed after so many steps, and again; return whether it was killed."""
        self.left = after
        try:
            work()
        except KilledError:
            work()
            return True
        self.left = 0
        return False
