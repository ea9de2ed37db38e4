"""Accounts on mail servers, the rules of TLS, and the errors of connections."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from secrets import token_hex
from traceback import format_tb, walk_tb
from typing import Literal
from urllib.parse import quote

from tapestry.core.errors import OwnFaultError, TapestryError
from tapestry.servers.quoted_reply import cause_without_secret, quoted_reply

log = logging.getLogger(__name__)

Security = Literal["tls", "starttls", "none"]
Method = Literal["password", "xoauth2"]

TIMEOUT = 60.0
"""Seconds without an answer after which a connection counts as lost."""

MALFORMED = (ValueError, LookupError, TypeError, MemoryError, OverflowError)
"""Errors of the libraries at responses that are not of their protocol."""

LIBRARIES = ("imapclient", "imaplib", "nntplib", "smtplib", "http", "ssl")
"""Places at which it is the reply that is malformed, if one of MALFORMED is raised there."""

OWN = ("tapestry", "filters")

ANYWHERE = ("0.0.0.0/0", "::/0")
"""Hosts that the operator's own accounts may reach."""


class ConnectionLostError(TapestryError):
    """The server cannot be reached, or the connection was lost: a later try may succeed."""


class MalformedReplyError(ValueError):
    """A reply has not what its protocol asks for: the server is none of it, or is broken."""


class RefusedError(TapestryError):
    """The server refuses this account: a person must change something first."""


@dataclass(frozen=True, slots=True)
class Account:
    """A user of a server; ``secret`` is a password, or an access token for XOAUTH2.

    Both are empty for servers without authentication (most news servers).  ``allowed`` has the
    networks and hosts beside the public ones that it may be on (tapestry.servers.private_hosts).
    ``path`` is where an address book or calendar is looked for, if its owner knows.
    """

    kind: str
    host: str
    port: int
    security: Security
    user: str = ""
    secret: str = field(default="", repr=False)
    method: Method = "password"
    allowed: tuple[str, ...] = ()
    path: str = ""

    @property
    def is_operators(self) -> bool:
        """Tell whether the operator named the server: it may be anywhere, errors are precise."""
        return self.allowed == ANYWHERE

    @property
    def address(self) -> str:
        """The URL of the account without its secret, for the origins of cursors.

        >>> Account("imap", "x.org", 993, "tls", "joe@x.org", "secret").address
        'imaps://joe%40x.org@x.org:993'
        """
        scheme = f"{self.kind}s" if self.security == "tls" else self.kind
        user = f"{quote(self.user, safe='')}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{user}{host}:{self.port}{self.path}"

    @property
    def where(self) -> str:
        """Host and port, for messages."""
        return f"{self.host}:{self.port}"


def is_this_machine(host: str) -> bool:
    """Return whether a host can only be this machine, so that nobody can eavesdrop.

    >>> is_this_machine("127.0.0.1"), is_this_machine("x.org")
    (True, False)
    """
    if host.lower() in ("localhost", "localhost."):
        return True
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return False


def require_private_connection(account: Account) -> None:
    """Raise RefusedError if the secret would cross a network unencrypted."""
    if account.secret and not is_this_machine(account.host):
        raise RefusedError(
            f"{account.where} offers no TLS, so the password would travel for all to read.",
            hint="Use the port with TLS (imaps is 993, nntps 563, submissions 465), or a server "
            "that has STARTTLS.",
        )


def connection_lost(account: Account, reason: str) -> ConnectionLostError:
    """Return the error of a connection that ended too early."""
    return ConnectionLostError(
        f"{account.where} broke off: {reason}.",
        hint="Run the same again: it goes on where it stopped, and nothing comes twice.",
    )


@contextmanager
def protocol_explained(
    account: Account, protocol_error: type[Exception], server: str
) -> Iterator[None]:
    """Raise errors of the connection and of the protocol as TapestryError, without the secret.

    What a library cannot read is the server's fault (ConnectionLostError).  What this program
    raises itself is its own (OwnFaultError), unless it is within ``reading_reply``.  Of both the
    log has the traceback: a library may have been given what is wrong.
    """
    try:
        yield
    except OSError as error:
        raise explain_os_error(account, error) from error
    except protocol_error as error:
        lost = connection_lost(account, quoted_reply(error, account.secret))
        raise lost from cause_without_secret(error, account.secret)
    except MALFORMED as error:
        if not _is_of_reply(error):
            raise own_fault(error, account.secret) from cause_without_secret(error, account.secret)
        protocol, name = account.kind.upper(), type(error).__name__
        number = _logged(logging.WARNING, "malformed reply", name, error)
        raise ConnectionLostError(
            f"{account.where} answers with what is not {protocol} ({name}).",
            hint=f"Check that host and port are those of {server}; the log has more under "
            f"{number}.",
        ) from cause_without_secret(error, account.secret)


def own_fault(error: Exception, secret: str) -> OwnFaultError:
    """Log the traceback of an error of this program, and return what is said of it."""
    said = f"{type(error).__name__}: {quoted_reply(error, secret)}"
    number = _logged(logging.ERROR, "fault", said, error)
    return OwnFaultError(
        f"It failed here, by a fault of this site and not of the server (number {number}).",
        hint="Tell those who run this site the number: the log has more under it.",
    )


def _logged(level: int, what: str, said: str, error: Exception) -> str:
    """Log the traceback of an error under a number, and return that."""
    number = token_hex(4)
    raised = error.__cause__ if isinstance(error, MalformedReplyError) else error
    trace = "".join(format_tb(raised.__traceback__ if raised else None))
    log.log(level, "%s %s: %s\n%s", what, number, said, trace)
    return number


@contextmanager
def reading_reply() -> Iterator[None]:
    """Have what the block cannot read of a library's answer count as the server's fault."""
    try:
        yield
    except MALFORMED as error:
        raise MalformedReplyError(f"{type(error).__name__}: {error}") from error


def _is_of_reply(error: Exception) -> bool:
    """Tell whether a library raised an error over a reply, and not this program over its own."""
    if isinstance(error, MalformedReplyError):
        return True
    rooms = (frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__))
    known = [room for name in rooms if (room := name.partition(".")[0]) in (*LIBRARIES, *OWN)]
    return bool(known) and known[-1] in LIBRARIES


def explain_os_error(account: Account, error: OSError) -> TapestryError:
    """Return an error of a socket in words, TLS and time-outs included."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return RefusedError(
            f"The certificate of {account.where} is not to be trusted: {error.verify_message}.",
            hint="Check the host's name; SSL_CERT_FILE names a file of authorities of your own.",
        )
    if isinstance(error, ssl.SSLError):
        return ConnectionLostError(
            f"{account.where} does not speak TLS as it should: {error.reason or error}.",
            hint="Check the port (imaps is 993, nntps 563, submissions 465) and the "
            "certificate of the server.",
        )
    unreachable = f"cannot be reached: {error.strerror or error}"
    return ConnectionLostError(
        f"{account.where} {'does not answer' if isinstance(error, TimeoutError) else unreachable}.",
        hint="Check host and port, and that the server runs; what was read before is kept.",
    )
