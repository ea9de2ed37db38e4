"""Mail in an IMAP mailbox, read without leaving a trace there."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from imapclient import IMAPClient
from imapclient.exceptions import IMAPClientError, LoginError

from tapestry.core.errors import TapestryError
from tapestry.ingest.source import Item, Source
from tapestry.tables.append import Cursor

PASSWORD = "TAPESTRY_IMAP_PASSWORD"
"""Environment variable with the password, where the URL has none."""

TIMEOUT = 60
"""Seconds without an answer after which a server is given up."""

BATCH = 100
BATCH_BYTES = 16 * 1024 * 1024
_SIZES_AT_ONCE = 2000

AskPassword = Callable[[str], str]
CursorOf = Callable[[str], Cursor | None]


@dataclass(frozen=True, slots=True)
class Mailbox:
    """What an IMAP URL says; ``password`` is None where it says none."""

    host: str
    port: int
    secure: bool
    user: str
    password: str | None
    folder: str

    @property
    def address(self) -> str:
        """The URL without the password."""
        scheme = "imaps" if self.secure else "imap"
        return f"{scheme}://{quote(self.user, safe='')}@{self.host}:{self.port}/{self.folder}"


def read_url(url: str) -> Mailbox:
    """Read ``imap(s)://user[:password]@host[:port]/MAILBOX``, each part percent-encoded.

    The mailbox is INBOX by default.  Raises TapestryError if host or user is missing.
    """
    try:
        parts = urlsplit(url)
        secure = parts.scheme == "imaps"
        port = parts.port or (993 if secure else 143)
    except ValueError as error:
        raise _bad_url() from error
    if not parts.hostname or not parts.username:
        raise _bad_url()
    return Mailbox(
        parts.hostname,
        port,
        secure,
        unquote(parts.username),
        None if parts.password is None else unquote(parts.password),
        unquote(parts.path.strip("/")) or "INBOX",
    )


def open_imap_source(
    url: str, audience: str, cursor_of: CursorOf, ask_password: AskPassword | None = None
) -> Source:
    """Open a mailbox for reading only; its items are the messages after its cursor, by UID.

    The cursor belongs to the mailbox's UIDVALIDITY: if that changes, all is read again,
    and what is known is not added again.  The password is the URL's, else that of
    $TAPESTRY_IMAP_PASSWORD, else what ``ask_password(address)`` returns.
    """
    mailbox = read_url(url)
    password = _password(mailbox, ask_password)
    with _explained(mailbox):
        client = _connect(mailbox)
        try:
            _log_in(client, mailbox, password)
            validity = _examine(client, mailbox)
            source = f"{mailbox.address};uidvalidity={validity}@{audience}"
            stored = cursor_of(source)
            uids = _newer(client, stored.version if stored else 0)
        except BaseException:
            client.shutdown()
            raise
    return Source(mailbox.address, _items(client, mailbox, source, uids), lambda: len(uids))


def _password(mailbox: Mailbox, ask: AskPassword | None) -> str:
    password = mailbox.password
    if password is None:
        password = os.environ.get(PASSWORD)
    if password is None and ask is not None:
        password = ask(mailbox.address)
    if password is None:
        raise TapestryError(
            f"No password is given for {mailbox.address}.",
            hint=f"Set {PASSWORD}, or write it into the URL: imaps://user:password@host/INBOX.",
        )
    return password


def _connect(mailbox: Mailbox) -> IMAPClient:
    client = IMAPClient(mailbox.host, mailbox.port, ssl=mailbox.secure, timeout=TIMEOUT)
    if not mailbox.secure and client.has_capability("STARTTLS"):
        client.starttls()
    return client


def _log_in(client: IMAPClient, mailbox: Mailbox, password: str) -> None:
    try:
        client.login(mailbox.user, password)
    except LoginError as error:
        raise TapestryError(
            f"{mailbox.host} refused the user name or password of {mailbox.user}.",
            hint=f"Check both; the password may be in the URL or in {PASSWORD}.",
        ) from error


def _examine(client: IMAPClient, mailbox: Mailbox) -> int:
    try:
        status = client.select_folder(mailbox.folder, readonly=True)
    except IMAPClientError as error:
        names = sorted(str(name) for _flags, _delimiter, name in client.list_folders())
        raise TapestryError(
            f"{mailbox.host} has no mailbox {mailbox.folder} that {mailbox.user} may read.",
            hint=f"It has: {', '.join(names[:20])}.",
        ) from error
    return int(status[b"UIDVALIDITY"])


def _newer(client: IMAPClient, last: int) -> list[int]:
    # "n:*" names the last message even where its UID is below n.
    return sorted(uid for uid in client.search(["UID", f"{last + 1}:*"]) if uid > last)


def _items(client: IMAPClient, mailbox: Mailbox, source: str, uids: list[int]) -> Iterator[Item]:
    with _explained(mailbox):
        try:
            for batch in _batches(client, uids):
                bodies = client.fetch(batch, ["BODY.PEEK[]"])
                for uid in batch:
                    # One that was expunged meanwhile is not there: the cursor passes it.
                    raw = bodies.get(uid, {}).get(b"BODY[]")
                    if raw is not None:
                        yield Item(raw, source, Cursor(source, uid))
        finally:
            client.shutdown()


def _batches(client: IMAPClient, uids: list[int]) -> Iterator[list[int]]:
    for start in range(0, len(uids), _SIZES_AT_ONCE):
        some = uids[start : start + _SIZES_AT_ONCE]
        sizes = client.fetch(some, ["RFC822.SIZE"])
        batch: list[int] = []
        length = 0
        for uid in some:
            size = sizes.get(uid, {}).get(b"RFC822.SIZE", 0)
            if batch and (len(batch) == BATCH or length + size > BATCH_BYTES):
                yield batch
                batch, length = [], 0
            batch.append(uid)
            length += size
        if batch:
            yield batch


@contextmanager
def _explained(mailbox: Mailbox) -> Iterator[None]:
    """Turn what goes wrong on the wire into a sentence."""
    where = f"{mailbox.host}:{mailbox.port}"
    try:
        yield
    except ssl.SSLError as error:
        raise TapestryError(
            f"{where} does not speak TLS as it should: {error.reason or error}.",
            hint="Check the port (imaps is 993) and the server's certificate.",
        ) from error
    except OSError as error:
        raise TapestryError(
            f"{where} cannot be reached: {error.strerror or error}.",
            hint="Check host and port, and that the server runs; what was read before is kept.",
        ) from error
    except IMAPClientError as error:
        raise TapestryError(
            f"{where} broke off: {error}.",
            hint="Run the same again: it goes on where it stopped, and nothing comes twice.",
        ) from error


def _bad_url() -> TapestryError:
    return TapestryError(
        "This is not the URL of an IMAP mailbox.",
        hint="Write imaps://user@host/INBOX; percent-encode an @ in the user name as %40.",
    )
