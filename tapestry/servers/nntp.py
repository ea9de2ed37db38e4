"""A connection to a news server: nntplib, with verified TLS and no limit on a line's length.

Python dropped `nntplib` after 3.12; `standard-nntplib` keeps the same module.  It no longer
changes: the three private methods that are overridden here stay.  (`pynntp` returns lines that
begin with a dot twice, and its licence would bind this program.)
"""

from __future__ import annotations

import socket
import ssl
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

from tapestry.servers.account import (
    Account,
    ConnectionLostError,
    RefusedError,
    connection_lost,
    protocol_explained,
)
from tapestry.servers.opening import opened
from tapestry.servers.quoted_reply import cause_without_secret, quoted_reply

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import nntplib

NNTPError = nntplib.NNTPError
LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of a line, at most: after a longer one the connection is of no use."""


class Client(nntplib.NNTP):
    """A connection to a news server, in reader mode (RFC 3977, section 5.3).

    It is over a socket that is connected already, with TLS where that is from the start.
    """

    def __init__(self, account: Account, over: socket.socket, timeout: float) -> None:
        self._over = over
        super().__init__(account.host, account.port, readermode=True, timeout=timeout)

    def _create_socket(self, _timeout: float) -> socket.socket:
        return self._over

    def _getline(self, strip_crlf: bool = True) -> bytes:
        """Return one line; raise EOFError if the connection ended within it."""
        line = self.file.readline(LONGEST_LINE)
        if not line.endswith(b"\n"):
            raise EOFError
        return line.rstrip(b"\r\n") if strip_crlf else line

    def _grouplist(self, lines: list[str]) -> list[nntplib.GroupInfo]:
        """Return the groups of LIST ACTIVE, without malformed lines."""
        fields = [line.split() for line in lines]
        return [
            nntplib.GroupInfo(*words)
            for words in fields
            if len(words) == 4 and words[1].isdecimal() and words[2].isdecimal()
        ]

    def offers_tls(self) -> bool:
        """Return whether the server takes STARTTLS (RFC 4642)."""
        return "STARTTLS" in self.getcapabilities()

    def begin_tls(self, context: ssl.SSLContext) -> None:
        """Have the connection encrypted from now on."""
        self.starttls(context)

    def set_timeout(self, seconds: float) -> None:
        """Wait so long for each response."""
        self.sock.settimeout(seconds)

    def authenticate(self, account: Account) -> None:
        """Log in (RFC 4643), if there is a user."""
        if not account.user:
            return
        try:
            self.login(account.user, account.secret, usenetrc=False)
        except (nntplib.NNTPPermanentError, nntplib.NNTPTemporaryError) as error:
            if code_of(error) == 400:
                raise
            raise RefusedError(
                f"{account.host} refused the user name or password of {account.user}.",
                hint="Check both.",
            ) from None
        except nntplib.NNTPProtocolError:
            # A malformed response may repeat the command, with the password.
            raise ConnectionLostError(
                f"{account.where} does not answer to a user name and password as it should.",
                hint="Check that host and port are those of a news server.",
            ) from None

    def leave(self) -> None:
        """Close the connection, which may be lost already."""
        with suppress(OSError, EOFError, NNTPError, ValueError):
            self.set_timeout(2)
            self.quit()


def connected(
    account: Account, timeout: float, seconds: float | None = None
) -> AbstractContextManager[Client]:
    """Connect, start TLS, authenticate if there is a user; close the connection at the end.

    ``timeout`` is seconds an answer, ``seconds`` limits all of it.
    """
    return opened(Client, explained, account, timeout, seconds)


def code_of(error: Exception) -> int:
    """Return the response code of an error, 0 if it has none."""
    start = str(error)[:3]
    return int(start) if start.isdecimal() else 0


@contextmanager
def explained(account: Account) -> Iterator[None]:
    """Raise errors of the connection and the protocol as TapestryError."""
    with protocol_explained(account, NNTPError, "a news server"):
        try:
            yield
        except (ssl.SSLEOFError, EOFError) as error:
            raise connection_lost(account, "the line was cut") from error
        except NNTPError as error:
            if code_of(error) not in (480, 483, 502):
                raise
            reply = quoted_reply(error, account.secret)
            raise RefusedError(
                f"{account.host} does not let everybody in: {reply}.",
                hint="Give a user name and password, or ask those who run it.",
            ) from cause_without_secret(error, account.secret)
