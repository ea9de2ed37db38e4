"""The way to mailboxes that are in the coordinator's memory: a client with what the product asks.

It stands where a client over a socket would: what opens it, names its faults and closes it is the
product's own (tapestry.servers.imap).
"""

from __future__ import annotations

from datetime import datetime
from functools import partial
from types import SimpleNamespace
from typing import Any

from imapclient import imap_utf7
from imapclient.exceptions import IMAPClientAbortError, IMAPClientError, LoginError

from tapestry.core.clock import to_datetime, to_instant
from tapestry.servers import imap
from tapestry.servers.account import Account
from tests.simulation.site_connections import Ask, opened_as


def give_mailboxes(ask: Ask) -> None:
    """Have every mailbox be one of the coordinator's."""
    imap.opened = opened_as(partial(Client, ask))


class Client:
    """As much of an IMAPClient as is used, for one account."""

    authenticate = imap._Client.authenticate

    def __init__(self, ask: Ask, account: Account) -> None:
        self.ask, self.account = ask, account
        self.folder_encode = True
        self.folder, self.validity = "", 0
        self.abilities: set[str] = set()
        self.keywords = False

    def request(self, do: str, **what: Any) -> Any:
        """Return the value of an answer; raise what a connection would otherwise."""
        answer = self.ask("imap", {"do": do, "user": self.account.user, "with": what})
        match answer["answer"]:
            case "no":
                raise IMAPClientError(f"{do} failed: {answer['words']}")
            case "cut":
                raise IMAPClientAbortError("socket error: EOF")
            case "hang":
                raise TimeoutError("timed out")
        return answer["value"]

    def login(self, user: str, secret: str) -> None:
        try:
            found = self.request("login")
        except IMAPClientAbortError:
            raise
        except IMAPClientError as error:
            raise LoginError(str(error)) from error
        self.abilities, self.keywords = set(found["capabilities"]), found["keywords"]

    # Folders.

    def has_capability(self, name: str) -> bool:
        return name in self.abilities

    def capabilities(self) -> tuple[bytes, ...]:
        return tuple(name.encode() for name in sorted(self.abilities))

    def namespace(self) -> Any:
        return SimpleNamespace(personal=(self.request("namespace"),))

    def list_folders(self, _: str, pattern: str | bytes) -> list[tuple[Any, bytes, Any]]:
        if not pattern:  # what the delimiter is
            return [((), self.request("list", first="")[0][1].encode(), "")]
        assert isinstance(pattern, bytes)
        first = str(imap_utf7.decode(pattern.removesuffix(b"*")))
        listed = self.request("list", first=first)
        return [
            (tuple(use.encode() for use in uses), delimiter.encode(), imap_utf7.encode(name))
            for uses, delimiter, name in listed
        ]

    def select_folder(self, name: str, readonly: bool = False) -> dict[bytes, Any]:
        found = self.request("status", name=name)
        self.folder, self.validity = name, found["UIDVALIDITY"]
        permanent = (rb"\Flagged", rb"\Answered", rb"\Seen", rb"\Deleted")
        more = {b"PERMANENTFLAGS": (*permanent, *((rb"\*",) if self.keywords else ()))}
        return {key.encode(): value for key, value in found.items()} | more

    def folder_status(self, name: str, what: Any) -> dict[bytes, int]:
        return {key.encode(): value for key, value in self.request("status", name=name).items()}

    def create_folder(self, name: str) -> None:
        self.request("create", name=name)

    def subscribe_folder(self, name: str) -> None:
        """Nobody asks which folders are subscribed."""

    # The messages of the open folder.

    def _of_folder(self, do: str, **what: Any) -> Any:
        return self.request(do, name=self.folder, validity=self.validity, **what)

    def search(self, criteria: Any = ()) -> list[int]:
        found: list[int] = self._of_folder("search", criteria=list(criteria))
        return found

    def fetch(self, uids: Any, attributes: list[str]) -> dict[int, dict[bytes, Any]]:
        found = self._of_folder("fetch", uids=list(uids))
        return {uid: _attributes(attributes, raw, flags, at) for uid, raw, flags, at in found}

    def append(self, name: str, raw: bytes, flags: Any, at: datetime) -> None:
        named = [bytes(flag).decode() for flag in flags]
        self.request("append", name=name, raw=raw, flags=named, at=to_instant(at))

    def copy(self, uids: list[int], target: str) -> None:
        self._of_folder("transfer", uids=uids, target=target, move=False)

    def move(self, uids: list[int], target: str) -> None:
        self._of_folder("transfer", uids=uids, target=target, move=True)

    def add_flags(self, uids: list[int], flags: list[bytes], silent: bool = False) -> None:
        self._of_folder("store", uids=uids, flags=[flag.decode() for flag in flags], to=True)

    def remove_flags(self, uids: list[int], flags: list[bytes], silent: bool = False) -> None:
        self._of_folder("store", uids=uids, flags=[flag.decode() for flag in flags], to=False)

    def uid_expunge(self, uids: list[int]) -> None:
        self._of_folder("expunge", uids=uids)


def _attributes(names: list[str], raw: bytes, flags: list[str], at: int) -> dict[bytes, Any]:
    """Return attributes of a message under the names that a server gives them."""
    head = raw.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
    values = {
        "FLAGS": (b"FLAGS", tuple(flag.encode() for flag in flags)),
        "INTERNALDATE": (b"INTERNALDATE", to_datetime(at // 1_000_000 * 1_000_000)),
        "RFC822.SIZE": (b"RFC822.SIZE", len(raw)),
        "BODY.PEEK[]": (b"BODY[]", raw),
        "BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)]": (b"BODY[HEADER.FIELDS (MESSAGE-ID)]", head),
    }
    return dict(values[name] for name in names)
