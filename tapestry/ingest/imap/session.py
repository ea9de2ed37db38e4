"""An IMAP server, read without leaving a trace there: no flag is set, nothing is moved.

connect ─ TLS ─ log in ─> folders ─ EXAMINE ─> messages after the cursor (imap_folder)
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from imapclient import IMAPClient, imap_utf7
from imapclient.exceptions import IMAPClientAbortError, IMAPClientError, LoginError

from tapestry.core.errors import TapestryError
from tapestry.ingest.account import (
    TIMEOUT,
    Account,
    ConnectionLostError,
    RefusedError,
    explain_os_error,
    must_not_be_overheard,
    tls_context,
)
from tapestry.ingest.imap.folder import LATER, MailboxStatus, NewMessages
from tapestry.ingest.quoted_reply import cause_without_secret, is_plain, quoted_reply
from tapestry.ingest.stream import CursorOf, Item, ListedFolder, MessageStream, SyncStates
from tapestry.ingest.unavailable import has_unavailable

# The library can write every line it sends to its log, tokens too: never in this program.
logging.getLogger("imapclient").setLevel(logging.WARNING)

_CLOSED = {b"\\noselect", b"\\nonexistent"}


@dataclass(frozen=True, slots=True)
class ImapSession:
    """A session with an IMAP server, logged in."""

    account: Account
    client: IMAPClient

    def list_folders(self, patterns: Sequence[str] = ("*",)) -> list[ListedFolder]:
        """Return the folders that can be read, INBOX first, then by name."""
        with explained(self.account):
            # Each name is decoded by itself: one that cannot be leaves the others as they are.
            self.client.folder_encode = False
            try:
                listed: Any = self.client.list_folders()
            finally:
                self.client.folder_encode = True
            decoded = {
                _decoded(name)
                for flags, _delimiter, name in listed
                if not _CLOSED & {flag.lower() for flag in flags}
            }
        names = filter(is_plain, decoded)
        return [
            ListedFolder(name) for name in sorted(names, key=lambda name: (not _inbox(name), name))
        ]

    def expand(self, patterns: Sequence[str]) -> list[str]:
        """Return the folders, each once."""
        return list(dict.fromkeys(patterns))

    def open(
        self, folder: str, audience: str, cursor_of: CursorOf, sync_states: SyncStates
    ) -> MessageStream:
        """Return a folder, its items the messages after its cursor, by UID.

        The cursor belongs to the folder's UIDVALIDITY: if that changes, all is read again,
        and what is known is not added again.
        """
        sync_state = sync_states.load(folder)
        with explained(self.account):
            version = self._mailbox_version(folder)
            known = (sync_state.get("uidvalidity"), sync_state.get("modseq"))
            if version is not None and version == known and not has_unavailable(sync_state):
                return MessageStream(f"{self.account.address}/{folder}", iter(()), lambda: 0)
            status = self.examine(folder)
            if version is not None and version[0] == status.uidvalidity:
                # As it was before it was opened: what came since then is a change.
                status = replace(status, modseq=version[1])
        origin = f"{self.account.address}/{folder};uidvalidity={status.uidvalidity}@{audience}"
        stored = cursor_of(origin)
        last = stored.version if stored else 0
        items = NewMessages(self.client, status, origin, sync_states).after(last)
        return MessageStream(
            f"{self.account.address}/{folder}",
            _explained_items(self.account, items),
            lambda: status.at_most_after(last),
        )

    def examine(self, folder: str) -> MailboxStatus:
        """Open a folder for reading only."""
        try:
            response: Any = self.client.select_folder(folder, readonly=True)
        except IMAPClientAbortError:
            raise
        except IMAPClientError as error:
            names = ", ".join(listed_folder.name for listed_folder in self.list_folders()[:20])
            who = f" that {self.account.user} may read"
            raise TapestryError(
                f"{self.account.host} has no mailbox {folder}{who}.", hint=f"It has: {names}."
            ) from error
        return MailboxStatus(
            name=folder,
            uidvalidity=int(response[b"UIDVALIDITY"]),
            uidnext=int(response.get(b"UIDNEXT") or 0),
            messages=int(response[b"EXISTS"]),
        )

    def _mailbox_version(self, folder: str) -> tuple[int, int] | None:
        """Return UIDVALIDITY and the count of changes, where the server counts them (CONDSTORE)."""
        if not self.client.has_capability("CONDSTORE"):
            return None
        try:
            response: Any = self.client.folder_status(folder, ["UIDVALIDITY", "HIGHESTMODSEQ"])
        except IMAPClientAbortError:
            raise
        except IMAPClientError:
            return None  # opening it will say what is the matter
        changes = response.get(b"HIGHESTMODSEQ")
        return (int(response[b"UIDVALIDITY"]), int(changes)) if changes else None


@contextmanager
def open_imap(account: Account, timeout: float = TIMEOUT) -> Iterator[ImapSession]:
    """Connect and log in; the line is closed at the end of the block, however it ends."""
    with explained(account):
        client = _connect(account, timeout)
        try:
            _log_in(client, account)
        except BaseException:
            _hang_up(client)
            raise
    try:
        yield ImapSession(account, client)
    finally:
        _hang_up(client)


def _connect(account: Account, timeout: float) -> IMAPClient:
    secure = account.security == "tls"
    context = tls_context()
    client = IMAPClient(
        account.host,
        account.port,
        ssl=secure,
        ssl_context=context if secure else None,
        timeout=timeout,
    )
    try:
        if account.security == "starttls" and client.has_capability("STARTTLS"):
            client.starttls(context)
        elif not secure:
            must_not_be_overheard(account)
    except BaseException:
        _hang_up(client)
        raise
    return client


def _hang_up(client: IMAPClient) -> None:
    # The line may be gone already, which is no news here.
    with suppress(OSError, IMAPClientError):
        client.shutdown()


def _log_in(client: IMAPClient, account: Account) -> None:
    try:
        if account.method == "xoauth2":
            client.oauth2_login(account.user, account.secret)
        elif not (account.user + account.secret).isascii():
            # LOGIN knows ASCII only.
            client.plain_login(account.user, account.secret)
        else:
            client.login(account.user, account.secret)
    except LoginError as error:
        if isinstance(error.__context__, IMAPClientAbortError):
            raise error.__context__ from None
        if any(code in str(error).upper() for code in LATER):
            raise ConnectionLostError(
                f"{account.host} cannot let anybody in just now.", hint="It is tried again later."
            ) from error
        what = "token" if account.method == "xoauth2" else "user name or password"
        raise RefusedError(
            f"{account.host} refused the {what} of {account.user}.",
            hint="Check both. Many providers want a password made for this program alone.",
        ) from None


@contextmanager
def explained(account: Account) -> Iterator[None]:
    """Turn what goes wrong on the wire into a sentence."""
    try:
        yield
    except OSError as error:
        raise explain_os_error(account, error) from error
    except IMAPClientError as error:
        raise ConnectionLostError(
            f"{account.where} broke off: {quoted_reply(error, account.secret)}.",
            hint="Run the same again: it goes on where it stopped, and nothing comes twice.",
        ) from cause_without_secret(error, account.secret)
    except (ValueError, LookupError, TypeError, MemoryError, OverflowError) as error:
        # What the library raises where a server does not speak IMAP as it should.
        raise ConnectionLostError(
            f"{account.where} answers with what is not IMAP ({type(error).__name__}).",
            hint="Check that host and port are those of an IMAP server.",
        ) from cause_without_secret(error, account.secret)


def _explained_items(account: Account, items: Iterator[Item]) -> Iterator[Item]:
    with explained(account):
        yield from items


def _decoded(name: bytes | str | None) -> str:
    """Return the name of a folder, empty if it is none (RFC 3501, section 5.1.3)."""
    if not isinstance(name, bytes):
        return name or ""
    try:
        return str(imap_utf7.decode(name)) if name.isascii() else ""
    except UnicodeError:
        return ""


def _inbox(name: str) -> bool:
    return name.upper() == "INBOX"
