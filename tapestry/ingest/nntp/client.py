"""The line to a news server: nntplib, with TLS that checks and no limit on a line's length.

Of the libraries there are, `pynntp` hands lines that begin with a dot over twice and has a
licence that would bind this program; `nntplib` is plain and well known.  Python dropped it
after 3.12, and `standard-nntplib` keeps the same module for later ones.  It will not change
any more, so the three inner methods replaced here will stay.
"""

from __future__ import annotations

import socket
import ssl
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tapestry.ingest.account import (
    Account,
    ConnectionLostError,
    RefusedError,
    explain_os_error,
    must_not_be_overheard,
    tls_context,
)
from tapestry.ingest.quoted_reply import cause_without_secret, quoted_reply

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import nntplib

NNTPError = nntplib.NNTPError
LONGEST_LINE = 64 * 1024 * 1024


class Client(nntplib.NNTP):
    """A session with a news server, in reader mode."""

    def __init__(self, account: Account, timeout: float) -> None:
        self._secure = account.security == "tls"
        super().__init__(account.host, account.port, readermode=True, timeout=timeout)

    def _create_socket(self, timeout: float) -> socket.socket:
        line = socket.create_connection((self.host, self.port), timeout)
        if not self._secure:
            return line
        try:
            return tls_context().wrap_socket(line, server_hostname=self.host)
        except BaseException:
            line.close()
            raise

    def _getline(self, strip_crlf: bool = True) -> bytes:
        """Return one line; one that is not ended is what a broken line leaves of it."""
        line = self.file.readline(LONGEST_LINE)
        if not line.endswith(b"\n"):
            raise EOFError
        return line.rstrip(b"\r\n") if strip_crlf else line

    def _grouplist(self, lines: list[str]) -> list[nntplib.GroupInfo]:
        """Return the groups of a list, without lines that name none."""
        found = [line.split() for line in lines]
        return [
            nntplib.GroupInfo(*words)
            for words in found
            if len(words) == 4 and words[1].isdecimal() and words[2].isdecimal()
        ]


@contextmanager
def connected(account: Account, timeout: float) -> Iterator[Client]:
    """Connect, start TLS, log in if there is a user; close the line at the end."""
    with explained(account):
        client = Client(account, timeout)
    try:
        with explained(account):
            if account.security == "starttls" and "STARTTLS" in client.getcapabilities():
                client.starttls(tls_context())
            elif account.security != "tls":
                must_not_be_overheard(account)
            if account.user:
                _log_in(client, account)
        yield client
    finally:
        with suppress(OSError, EOFError, NNTPError, ValueError):
            client.sock.settimeout(2)
            client.quit()


def _log_in(client: Client, account: Account) -> None:
    try:
        client.login(account.user, account.secret, usenetrc=False)
    except (nntplib.NNTPPermanentError, nntplib.NNTPTemporaryError) as error:
        if code_of(error) == 400:
            raise
        raise RefusedError(
            f"{account.host} refused the user name or password of {account.user}.",
            hint="Check both.",
        ) from None
    except nntplib.NNTPProtocolError:
        # Many an answer that is none repeats what it was told: the password.
        raise ConnectionLostError(
            f"{account.where} does not answer to a user name and password as it should.",
            hint="Check that host and port are those of a news server.",
        ) from None


def code_of(error: Exception) -> int:
    """Return the number with which a server answered, 0 if it did not."""
    start = str(error)[:3]
    return int(start) if start.isdecimal() else 0


@contextmanager
def explained(account: Account) -> Iterator[None]:
    """Turn what goes wrong on the wire into a sentence."""
    try:
        yield
    except ssl.SSLEOFError as error:
        raise _broken(account, "the line was cut") from error
    except OSError as error:
        raise explain_os_error(account, error) from error
    except EOFError as error:
        raise _broken(account, "the line was cut") from error
    except NNTPError as error:
        if code_of(error) in (480, 483, 502):
            raise RefusedError(
                f"{account.host} does not let everybody in: {quoted_reply(error, account.secret)}.",
                hint="Give a user name and password, or ask those who run it.",
            ) from cause_without_secret(error, account.secret)
        raise _broken(account, quoted_reply(error, account.secret)) from cause_without_secret(
            error, account.secret
        )
    except (ValueError, LookupError, TypeError, MemoryError) as error:
        # What the library raises where a server does not speak NNTP as it should.
        raise ConnectionLostError(
            f"{account.where} answers with what is not NNTP ({type(error).__name__}).",
            hint="Check that host and port are those of a news server.",
        ) from cause_without_secret(error, account.secret)


def _broken(account: Account, why: str) -> ConnectionLostError:
    return ConnectionLostError(
        f"{account.where} broke off: {why}.",
        hint="Run the same again: it goes on where it stopped, and nothing comes twice.",
    )
