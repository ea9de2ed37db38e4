"""Authenticated connections to IMAP servers (RFC 3501, RFC 9051), and the names of their folders.

connect ─ TLS or STARTTLS ─ LOGIN, PLAIN or XOAUTH2 ─> IMAPClient
"""

from __future__ import annotations

import imaplib
import logging
import socket
import ssl
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from imapclient import IMAPClient, imap_utf7
from imapclient.exceptions import IMAPClientAbortError, IMAPClientError, LoginError

from tapestry.core.message import LARGEST
from tapestry.servers.account import (
    TIMEOUT,
    Account,
    ConnectionLostError,
    RefusedError,
    protocol_explained,
    reading_reply,
)
from tapestry.servers.opening import opened

# At level DEBUG the library logs every line it sends, passwords and tokens too.
logging.getLogger("imapclient").setLevel(logging.WARNING)

SERVER_FAULTS = ("[UNAVAILABLE]", "[INUSE]", "[LIMIT]", "[SERVERBUG]")
"""Response codes that may concern more than what was asked for (RFC 5530)."""

LARGEST_LITERAL = LARGEST + 1024 * 1024
"""Bytes of a literal (RFC 3501, section 4.3) that are read: a message's, and some."""

UNREADABLE = frozenset({b"\\noselect", b"\\nonexistent"})
"""Flags of folders that are listed and cannot be opened, in lower case."""

DELIVERED_KEYWORD = "$TapestryDelivered"
"""The keyword (RFC 3501, section 2.3.2) of messages that Tapestry put into a mailbox."""


class _OpenConnection(imaplib.IMAP4):
    """IMAP over a socket that is connected already, with TLS where that is from the start."""

    def __init__(self, account: Account, over: socket.socket) -> None:
        self._over = over
        super().__init__(account.host, account.port)

    def _create_socket(self, _timeout: float | None) -> socket.socket:
        return self._over

    def read(self, size: int) -> bytes:
        """Read a literal; raise ``abort`` if it is larger than anything that is asked for."""
        if size > LARGEST_LITERAL:
            raise self.abort(f"a literal of {size:,} bytes is too large")
        return super().read(size)


class _Client(IMAPClient):
    """A client over an open connection; ``starttls`` verifies the account's host name."""

    def __init__(self, account: Account, over: socket.socket, timeout: float) -> None:
        self._connection = partial(_OpenConnection, account, over)
        super().__init__(account.host, account.port, ssl=account.security == "tls", timeout=timeout)

    def _create_IMAP4(self) -> imaplib.IMAP4:  # noqa: N802
        return self._connection()

    def offers_tls(self) -> bool:
        return bool(self.has_capability("STARTTLS"))

    def begin_tls(self, context: ssl.SSLContext) -> None:
        self.starttls(context)

    def set_timeout(self, seconds: float) -> None:
        self.socket().settimeout(seconds)

    def authenticate(self, account: Account) -> None:
        """Log in with LOGIN, PLAIN or XOAUTH2, if there is a user."""
        if not account.user:
            return
        try:
            if account.method == "xoauth2":
                self.oauth2_login(account.user, account.secret)
            elif not (account.user + account.secret).isascii():
                # LOGIN takes ASCII only.
                self.plain_login(account.user, account.secret)
            else:
                self.login(account.user, account.secret)
        except LoginError as error:
            if isinstance(error.__context__, IMAPClientAbortError):
                raise error.__context__ from None
            if any(code in str(error).upper() for code in SERVER_FAULTS):
                raise ConnectionLostError(
                    f"{account.host} cannot let anybody in just now.",
                    hint="It is tried again later.",
                ) from error
            credential = "token" if account.method == "xoauth2" else "user name or password"
            raise RefusedError(
                f"{account.host} refused the {credential} of {account.user}.",
                hint="Check both. Many providers require an app password, for this program alone.",
            ) from None

    def leave(self) -> None:
        with suppress(OSError, IMAPClientError):  # the connection may be lost already
            self.shutdown()


def connected(
    account: Account, timeout: float = TIMEOUT, seconds: float | None = None
) -> AbstractContextManager[IMAPClient]:
    """Connect, and authenticate if there is a user; the connection is closed when the block ends.

    ``timeout`` is seconds an answer, ``seconds`` limits all of it.  Raises ConnectionLostError or
    RefusedError, in words; UnreachableError if there is no TLS.
    """
    return opened(_Client, explained, account, timeout, seconds)


def explained(account: Account) -> AbstractContextManager[None]:
    """Raise errors of the connection and the protocol as TapestryError."""
    return protocol_explained(account, IMAPClientError, "an IMAP server")


def unless_refused(request: Callable[..., Any], *arguments: Any) -> Any:
    """Return the response to a request, None if the server refuses it (NO, BAD)."""
    try:
        return request(*arguments)
    except IMAPClientAbortError:
        raise
    except IMAPClientError:
        return None


@reading_reply()
def listed_folders(client: IMAPClient, first: str = "") -> list[tuple[frozenset[bytes], str]]:
    """Return the folders whose names begin with ``first``: flags in lower case, and names.

    Folders whose names are invalid are left out.
    """
    # Names are decoded here, so that one that cannot be decoded spoils no other.
    client.folder_encode = False
    try:
        listed: Any = client.list_folders("", imap_utf7.encode(first) + b"*")
    finally:
        client.folder_encode = True
    return [
        (frozenset(flag.lower() for flag in flags), decoded)
        for flags, _delimiter, name in listed
        if (decoded := _decoded(name))
    ]


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Names of folders below others on a server (RFC 2342: the first personal namespace).

    ``delimiter`` is empty if folders cannot be below others.
    """

    prefix: str = ""
    delimiter: str = "/"

    def path(self, name: str) -> str:
        """Return the full name of a folder; slashes separate its levels in ``name``.

        >>> Hierarchy("INBOX.", ".").path("Mail/Tapestry")
        'INBOX.Mail.Tapestry'
        """
        full = self.below(*(level for level in name.split("/") if level))
        return full if full.startswith(self.prefix) else self.prefix + full

    def below(self, *names: str) -> str:
        """Return the name of a folder, each level below the one before.

        >>> Hierarchy("", "").below("Tapestry", "lunch")
        'Tapestry - lunch'
        """
        return (self.delimiter or " - ").join(names)

    def is_within(self, name: str, parent: str) -> bool:
        """Return whether a folder is ``parent``, given in full, or below it.

        >>> Hierarchy().is_within("Tapestry/lunch", "Tapestry")
        True
        >>> Hierarchy().is_within("Tapestry of Bayeux", "Tapestry")
        False
        """
        return name == parent or name.startswith(parent + (self.delimiter or " - "))


@reading_reply()
def hierarchy_of(client: IMAPClient) -> Hierarchy:
    """Return the hierarchy of a server, as NAMESPACE says it, or LIST if there is none."""
    if client.has_capability("NAMESPACE"):
        personal = client.namespace().personal
        if personal:
            prefix, delimiter = personal[0]
            return Hierarchy(prefix or "", delimiter or "")
    listed: Any = client.list_folders("", "")
    delimiter = listed[0][1] if listed else None
    return Hierarchy("", delimiter.decode("ascii", "replace") if delimiter else "")


def _decoded(name: bytes | str | None) -> str:
    """Decode the name of a folder, empty if it is invalid (RFC 3501, section 5.1.3)."""
    if not isinstance(name, bytes):
        return name or ""
    try:
        return str(imap_utf7.decode(name)) if name.isascii() else ""
    except UnicodeError:
        return ""
