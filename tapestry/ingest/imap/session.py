"""A session with an IMAP server (RFC 3501, RFC 9051) that only reads.

connect ─ TLS ─ LOGIN ─> LIST ─> EXAMINE ─> messages after the cursor (tapestry.ingest.imap.folder)

EXAMINE and BODY.PEEK set no flag.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from imapclient import IMAPClient
from imapclient.exceptions import IMAPClientAbortError, IMAPClientError

from tapestry.core.errors import TapestryError
from tapestry.core.ports import SyncStates
from tapestry.ingest.fetch import UnavailableMessages
from tapestry.ingest.first_look import FirstLook
from tapestry.ingest.imap.folder import MailboxStatus, NewMessages, uid_after_last
from tapestry.ingest.stream import CursorOf, ListedFolder, MessageStream, Resumed, read_within
from tapestry.ingest.unavailable import has_unavailable
from tapestry.servers.account import TIMEOUT, Account, reading_reply
from tapestry.servers.imap import (
    UNREADABLE,
    connected,
    explained,
    hierarchy_of,
    listed_folders,
    unless_refused,
)
from tapestry.servers.quoted_reply import is_plain


@dataclass(frozen=True, slots=True)
class ImapSession:
    """An authenticated session with an IMAP server."""

    account: Account
    client: IMAPClient

    def list_folders(
        self, patterns: Sequence[str] = ("*",), hidden: Sequence[str] = ()
    ) -> list[ListedFolder]:
        """Return the folders that can be read and are not ``hidden``, INBOX first, then by name."""
        with explained(self.account):
            listed = listed_folders(self.client)
        readable = {name for flags, name in listed if not UNREADABLE & flags}
        decoded = self._shown(readable, hidden)
        names = sorted(filter(is_plain, decoded), key=lambda name: (name.upper() != "INBOX", name))
        return [ListedFolder(name) for name in names]

    def expand(self, patterns: Sequence[str], hidden: Sequence[str] = ()) -> list[str]:
        """Return the names of folders, each once; a mailbox has no patterns."""
        return self._shown(dict.fromkeys(patterns), hidden)

    def _shown(self, names: Iterable[str], hidden: Sequence[str]) -> list[str]:
        """Return the names that are neither one of the hidden folders nor below it."""
        if not hidden:
            return list(names)
        with explained(self.account):
            hierarchy = hierarchy_of(self.client)
        parents = [hierarchy.path(parent) for parent in hidden]
        return [name for name in names if not any(hierarchy.is_within(name, p) for p in parents)]

    def open(
        self, folder: str, audience: str, cursor_of: CursorOf, sync_states: SyncStates
    ) -> MessageStream:
        """Return the messages of a folder after its cursor, by UID, and those of its first look.

        The cursor is valid for one UIDVALIDITY.  If that changes, the folder is looked at for
        the first time again; messages that are stored already are not added again.
        """
        address = f"{self.account.address}/{folder}"
        sync_state = sync_states.load(folder)
        with explained(self.account):
            version = self._mailbox_version(folder)
            known = (sync_state.get("uidvalidity"), sync_state.get("modseq"))
            if version is not None and version == known and not has_unavailable(sync_state):
                return MessageStream(address, iter(()), lambda: 0)
            status = self.examine(folder)
            if version is not None and version[0] == status.uidvalidity:
                # The version before EXAMINE: what came in between counts as a change.
                status = replace(status, modseq=version[1])
            origin = f"{address};uidvalidity={status.uidvalidity}@{audience}"
            look = FirstLook.of(origin, cursor_of, lambda: self._newest(status))
        last = FirstLook.last(origin, cursor_of, look)
        unavailable = UnavailableMessages(sync_states, folder, status.uidvalidity, origin)
        items = NewMessages(self.client, status, unavailable, look).after(last)
        guarded = read_within(explained(self.account), items)
        new = status.at_most_after(last)
        older = look.at_most_left(status.messages - new) if look else 0
        resumed = Resumed(status.messages - new - older if older else 0)
        return MessageStream(
            address,
            guarded,
            lambda: resumed.messages + new + older,
            resumed,
            unavailable.putting_aside,
        )

    def _newest(self, status: MailboxStatus) -> int:
        return (status.uidnext or uid_after_last(self.client, status.messages)) - 1

    def examine(self, folder: str) -> MailboxStatus:
        """Open a folder for reading only (EXAMINE)."""
        try:
            response: Any = self.client.select_folder(folder, readonly=True)
        except IMAPClientAbortError:
            raise
        except IMAPClientError as error:
            names = ", ".join(listed_folder.name for listed_folder in self.list_folders()[:20])
            raise TapestryError(
                f"{self.account.host} has no mailbox {folder} that {self.account.user} may read.",
                hint=f"It has: {names}.",
            ) from error
        with reading_reply():
            return MailboxStatus(
                name=folder,
                uidvalidity=int(response[b"UIDVALIDITY"]),
                uidnext=int(response.get(b"UIDNEXT") or 0),
                messages=int(response[b"EXISTS"]),
            )

    def _mailbox_version(self, folder: str) -> tuple[int, int] | None:
        """Return UIDVALIDITY and HIGHESTMODSEQ, None if the server has no CONDSTORE (RFC 7162)."""
        if not self.client.has_capability("CONDSTORE"):
            return None
        asked = ["UIDVALIDITY", "HIGHESTMODSEQ"]
        response = unless_refused(self.client.folder_status, folder, asked)
        if response is None or not response.get(b"HIGHESTMODSEQ"):
            return None  # of a folder that cannot be read, EXAMINE will say so in words
        with reading_reply():
            return int(response[b"UIDVALIDITY"]), int(response[b"HIGHESTMODSEQ"])


@contextmanager
def open_imap(
    account: Account, timeout: float = TIMEOUT, seconds: float | None = None
) -> Iterator[ImapSession]:
    """Connect and authenticate; the connection is closed when the block ends, in any way."""
    with connected(account, timeout, seconds) as client:
        yield ImapSession(account, client)
