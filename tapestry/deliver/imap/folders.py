"""The folders of deliveries in a mailbox: created, searched, appended to (RFC 3501, RFC 9051)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

from imapclient import IMAPClient
from imapclient.exceptions import IMAPClientAbortError, IMAPClientError

from tapestry.core.clock import to_datetime
from tapestry.core.errors import TapestryError
from tapestry.deliver.imap.message_identity import MessageIdentity, message_id_field
from tapestry.deliver.mail.mime_parts import crlf
from tapestry.servers.account import Account, ConnectionLostError, RefusedError
from tapestry.servers.imap import (
    DELIVERED_KEYWORD,
    UNREADABLE,
    Hierarchy,
    hierarchy_of,
    listed_folders,
    unless_refused,
)
from tapestry.servers.imap_flags import permitted
from tapestry.servers.quoted_reply import quoted_reply, storable

_FULL = re.compile(
    r"\[OVERQUOTA\]|quota|mailbox (?:is )?full|(?:enough|out of) (?:storage|space)", re.IGNORECASE
)
_TOO_LARGE = re.compile(r"\[(?:TOOBIG|LIMIT)\]|too (?:big|large)", re.IGNORECASE)
_FOR_NOW = re.compile(
    r"\[(?:UNAVAILABLE|INUSE|SERVERBUG|TRYCREATE|NONEXISTENT|EXPUNGEISSUED)\b", re.IGNORECASE
)
_FORBIDDEN = re.compile(
    r"\[(?:NOPERM|AUTHORIZATIONFAILED|EXPIRED|PRIVACYREQUIRED)\]", re.IGNORECASE
)

_LOOK_ALIKE = {"/": "∕", "\\": "∖", ".": "․", "*": "∗", "%": "%", "~": "∼", "#": "#"}
"""Characters that servers refuse in the names of folders, and what stands in for them."""

_ALWAYS_REPLACED = "*%"
_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_LONGEST_NAME = 100


class MailboxFullError(TapestryError):
    """There is no room in the mailbox: its owner must delete something first."""


@dataclass(eq=False, repr=False)
class NotAcceptedError(TapestryError):
    """The server refuses one message; not ``certain`` where it may be refusing every message."""

    certain: bool = True


def folder_name(name: str, replaced: Iterable[str] = "/") -> str:
    """Return the name of a filter as one level of a folder's name.

    Characters that cannot be in it are replaced by others that look like them.

    >>> folder_name("lunch  at 1/2 past 12")
    'lunch at 1∕2 past 12'
    """
    for character in (*_ALWAYS_REPLACED, *replaced):
        name = name.replace(character, _LOOK_ALIKE.get(character, "-"))
    return _BLANK.sub(" ", storable(name)).strip()[:_LONGEST_NAME].strip() or "-"


@dataclass(slots=True)
class MailFolders:
    """The folders below ``parent``, given in full, on an open connection.

    ``existing`` are their names, ``selected`` the folder that is open, where messages may get
    the flags ``permanent`` (PERMANENTFLAGS).  ``moved`` are those elsewhere, by the name of the
    filter; ``validities`` the UIDVALIDITY of those that were opened.
    """

    account: Account
    client: IMAPClient
    hierarchy: Hierarchy
    parent: str
    existing: set[str]
    selected: str | None = field(default=None, init=False)
    permanent: tuple[bytes, ...] | None = field(default=None, init=False)
    moved: dict[str, str] = field(default_factory=dict, init=False)
    validities: dict[str, int] = field(default_factory=dict, init=False)

    @classmethod
    def of(cls, account: Account, client: IMAPClient, parent: str) -> MailFolders:
        """Return the folders below ``parent``, a name whose levels are separated by slashes."""
        hierarchy = hierarchy_of(client)
        full = hierarchy.path(parent)
        listed = {name for flags, name in listed_folders(client, full) if not flags & UNREADABLE}
        return cls(account, client, hierarchy, full, listed)

    def below(self, *names: str) -> str:
        """Return the full name of a folder below the parent, created if it does not exist."""
        return self.existing_below(*names) or self._create(self._forms(names))

    def existing_below(self, *names: str) -> str | None:
        """Return the full name of a folder below the parent, None if it does not exist."""
        return next((form for form in self._forms(names) if form in self.existing), None)

    def ensure(self, name: str) -> None:
        """Have a folder, given in full, exist; raise RefusedError if it cannot be created."""
        if name.upper() != "INBOX" and name not in self.existing:
            self._create([name])

    def _forms(self, names: Sequence[str]) -> list[str]:
        """Return the names that a folder may have: as few characters replaced as may be, or all."""
        above, levels = [self.parent], names
        if names[0] in self.moved:
            above, levels = [self.moved[names[0]]], names[1:]
        few = [self.hierarchy.delimiter] if self.hierarchy.delimiter else []
        forms = ((folder_name(name, chars) for name in levels) for chars in (few, _LOOK_ALIKE))
        return [self.hierarchy.below(*above, *form) for form in forms]

    def _create(self, forms: list[str]) -> str:
        """Create and subscribe a folder by the first of these names that the server takes."""
        forms = list(dict.fromkeys(forms))
        for name in forms:
            try:
                self.client.create_folder(name)
            except IMAPClientError as error:
                if isinstance(error, IMAPClientAbortError):
                    raise
                # It may exist under a name that differs in upper and lower case only.
                if unless_refused(self.client.folder_status, name, ["UIDVALIDITY"]) is None:
                    if name != forms[-1]:
                        continue
                    self._raise_for_all(error)
                    raise RefusedError(
                        f"{self.account.host} does not let {self.account.user} create the folder "
                        f"{forms[0]}: {quoted_reply(error, self.account.secret)}.",
                        hint="Name another parent folder.",
                    ) from error
            else:
                unless_refused(self.client.subscribe_folder, name)
            break
        self.existing.add(name)
        return name

    def rename(self, old_name: str, new_name: str) -> bool:
        """Rename a folder and those below it; return whether the server did so."""
        old = self.existing_below(old_name)
        if old is None or self.existing_below(new_name) is not None:
            return False
        for new in dict.fromkeys(self._forms([new_name])):
            if unless_refused(self.client.rename_folder, old, new) is None:
                continue
            within = {name for name in self.existing if self.hierarchy.is_within(name, old)}
            renamed = {new + name.removeprefix(old) for name in within}
            self.existing = self.existing - within | renamed
            self.validities.clear()
            self.selected = None
            for request, names in (
                (self.client.unsubscribe_folder, within),
                (self.client.subscribe_folder, renamed),
            ):
                for name in sorted(names):
                    unless_refused(request, name)
            return True
        return False

    def select(self, name: str) -> None:
        """Open a folder for reading and writing; create it again if it was deleted meanwhile."""
        if self.selected == name:
            return
        self.selected = None
        response: Any = unless_refused(self.client.select_folder, name)
        if response is None:
            self.existing.discard(name)
            self._create([name])
            response = self.client.select_folder(name)
        self.permanent = response.get(b"PERMANENTFLAGS")
        self.selected = name
        self.validities[name] = int(response.get(b"UIDVALIDITY", 0))

    def find(self, name: str, identity: MessageIdentity) -> dict[int, bool]:
        r"""Return the UIDs of a message in a folder, and whether each is marked as \Deleted."""
        self.select(name)
        # The search by header is by substring (RFC 3501, section 6.4.4).
        size = identity.size
        criteria: list[Any] = ["LARGER", max(size - 1, 0), "SMALLER", size + 1]
        wanted = "BODY.PEEK[]"
        if identity.message_id:
            criteria = ["HEADER", "Message-ID", identity.message_id]
            wanted = "BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)]"
        candidates = self.client.search(criteria)
        copies: dict[int, bool] = {}
        for uid in candidates:
            attributes: Any = self.client.fetch([uid], ["FLAGS", wanted]).get(uid, {})
            content = next(
                (attributes[key] for key in attributes if key.startswith(b"BODY[")), None
            )
            if content is not None and _is_of(identity, content):
                copies[uid] = rb"\Deleted" in attributes.get(b"FLAGS", ())
        return copies

    def append(
        self, name: str, raw: bytes, received: int, *, seen: bool, flags: Sequence[str] = ()
    ) -> None:
        r"""Append a message as it came, received at an instant; ``seen`` sets \Seen.

        It gets those of the ``flags`` that the folder takes.
        Raises MailboxFullError, or NotAcceptedError if the server refuses this message.
        """
        self.select(name)
        limit = _append_limit(self.client)
        if limit is not None and len(raw) > limit:
            raise NotAcceptedError(f"{self.account.host} takes no message that is so large.")
        ours = [rb"\Seen"] if seen else []
        ours += permitted([DELIVERED_KEYWORD], self.permanent)
        kept = permitted(flags, self.permanent)
        try:
            self._put(name, raw, ours, kept, to_datetime(max(received, 0)))
        except IMAPClientError as error:
            self._raise_for_all(error)
            said = quoted_reply(error, self.account.secret)
            certain = bool(_TOO_LARGE.search(str(error)))
            raise NotAcceptedError(
                f"{self.account.host} refuses it: {said}.", certain=certain
            ) from error

    def _put(
        self, name: str, raw: bytes, ours: list[bytes], kept: list[bytes], at: datetime
    ) -> None:
        """Append a message; without the flags it had if it is refused with them.

        A folder may have room for no other keyword.
        """
        try:
            self.client.append(name, raw, ours + kept, at)
        except IMAPClientError as error:
            if not kept or isinstance(error, IMAPClientAbortError):
                raise
            self.client.append(name, raw, ours, at)

    def move(self, uids: list[int], target: str, identity: MessageIdentity) -> None:
        """Move messages of the open folder (RFC 6851), without expunging any other.

        Without MOVE they are copied and marked, and expunged by UID (UIDPLUS, RFC 4315); without
        that they stay, marked as deleted.  A copy of an attempt that broke off is not made again.
        """
        can_move, is_copied = self.client.has_capability("MOVE"), False
        if not can_move:
            source = self.selected or ""
            is_copied = False in self.find(target, identity).values()
            self.select(source)
        try:
            if can_move:
                self.client.move(uids, target)
                return
            if not is_copied:
                self.client.copy(uids, target)
        except IMAPClientError as error:
            self._raise_for_all(error)
            raise
        self.client.add_flags(uids, [rb"\Deleted"], silent=True)
        self.expunge(uids)

    def expunge(self, uids: list[int]) -> bool:
        r"""Expunge messages of the open folder that are marked as \Deleted, and no other.

        Return False if the server cannot do that (without UIDPLUS).
        """
        if not self.client.has_capability("UIDPLUS"):
            return False
        self.client.uid_expunge(uids)
        return True

    def _raise_for_all(self, error: IMAPClientError) -> None:
        """Raise an error that concerns every message, if this is one, or ends the connection."""
        if isinstance(error, IMAPClientAbortError):
            raise error
        said = quoted_reply(error, self.account.secret)
        if _FOR_NOW.search(str(error)):
            raise ConnectionLostError(
                f"{self.account.host} cannot take mail just now: {said}.",
                hint="It is tried again later.",
            ) from error
        if _FORBIDDEN.search(str(error)):
            raise RefusedError(
                f"{self.account.host} does not let {self.account.user} put mail below "
                f"{self.parent}: {said}.",
                hint="Name another parent folder.",
            ) from error
        if _FULL.search(str(error)) and not _TOO_LARGE.search(str(error)):
            raise MailboxFullError(
                f"The mailbox of {self.account.user} at {self.account.host} is full.",
                hint="Delete something there; what waits is put in then.",
            ) from error


def _is_of(identity: MessageIdentity, content: bytes) -> bool:
    if identity.message_id:
        return message_id_field(content) == identity.message_id
    return sha256(crlf(content)).digest() == identity.digest


def _append_limit(client: IMAPClient) -> int | None:
    """Return the most bytes of a message that the server takes (RFC 7889), None if unknown."""
    for capability in client.capabilities():
        name, _, number = capability.partition(b"=")
        if name.upper() == b"APPENDLIMIT" and number.isdigit():
            return int(number)
    return None
