"""Where mail is pulled from, and as whom; and what can go wrong between here and there."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from typing import Literal
from urllib.parse import quote, unquote, urlsplit

from tapestry.core.errors import TapestryError

Kind = Literal["imap", "nntp"]
Security = Literal["tls", "starttls", "none"]
Method = Literal["password", "xoauth2"]

PORTS: dict[tuple[Kind, bool], int] = {
    ("imap", True): 993,
    ("imap", False): 143,
    ("nntp", True): 563,
    ("nntp", False): 119,
}
"""The usual port of each kind, with TLS from the start and without."""

TIMEOUT = 60.0
"""Seconds without an answer after which a server is given up."""

AskPassword = Callable[[str], str]


class ConnectionLostError(TapestryError):
    """The server cannot be reached, or the line to it broke: later it may go better."""


class RefusedError(TapestryError):
    """The server will not have us as we come: somebody must change something first."""


@dataclass(frozen=True, slots=True)
class Account:
    """A server and what to say to it; ``secret`` is a password, or a token for XOAUTH2.

    ``user`` and ``secret`` are empty where nobody needs to log in (news, mostly).
    """

    kind: Kind
    host: str
    port: int
    security: Security
    user: str = ""
    secret: str = field(default="", repr=False)
    method: Method = "password"

    @property
    def address(self) -> str:
        """The URL without the secret; it names the account in cursors.

        >>> Account("imap", "x.org", 993, "tls", "joe@x.org", "secret").address
        'imaps://joe%40x.org@x.org:993'
        """
        scheme = f"{self.kind}s" if self.security == "tls" else self.kind
        who = f"{quote(self.user, safe='')}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{who}{host}:{self.port}"

    @property
    def where(self) -> str:
        """Host and port, for sentences."""
        return f"{self.host}:{self.port}"

    def with_secret(self, secret: str) -> Account:
        """Return the account with another secret."""
        return replace(self, secret=secret)


def read_url(url: str) -> tuple[Account, str]:
    """Read ``imap(s)://`` or ``nntp(s)://[user[:password]@]host[:port]/PLACE``.

    Every part may be percent-encoded.  Return the account and the place, empty if there is
    none.  Who logs in without TLS from the start does so after STARTTLS, if there is such.

    >>> read_url("nntps://news.x.org/comp.misc")[0].port
    563
    """
    try:
        parts = urlsplit(url)
        scheme = parts.scheme.lower()
        kind: Kind = "nntp" if scheme.startswith("nntp") else "imap"
        secure = scheme.endswith("s")
        port = parts.port or PORTS[kind, secure]
    except ValueError as error:
        raise _bad_url(url) from error
    if not parts.hostname or (kind == "imap" and not parts.username):
        raise _bad_url(url)
    # Who reads news without logging in has nothing to hide on the usual port.
    plain: Security = "starttls" if parts.username else "none"
    account = Account(
        kind,
        parts.hostname,
        port,
        "tls" if secure else plain,
        unquote(parts.username or ""),
        unquote(parts.password or ""),
    )
    return account, unquote(parts.path.strip("/"))


def is_this_machine(host: str) -> bool:
    """Tell whether a host can only be this machine, so that nobody listens on the way.

    >>> is_this_machine("127.0.0.1"), is_this_machine("x.org")
    (True, False)
    """
    if host.lower() in ("localhost", "localhost."):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def must_not_be_overheard(account: Account) -> None:
    """Raise RefusedError where the secret would cross a network in plain sight."""
    if account.secret and not is_this_machine(account.host):
        raise RefusedError(
            f"{account.where} offers no TLS, so the password would travel for all to read.",
            hint="Use the port with TLS (imaps is 993, nntps 563), or a server that has STARTTLS.",
        )


def tls_context() -> ssl.SSLContext:
    """Return how TLS is spoken: the certificate and its host name are always checked.

    The authorities are the system's; SSL_CERT_FILE names others.
    """
    return ssl.create_default_context()


def explain_os_error(account: Account, error: OSError) -> TapestryError:
    """Return what to say of an error on the wire, TLS and time-outs included."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return RefusedError(
            f"The certificate of {account.where} is not to be trusted: {error.verify_message}.",
            hint="Check the host's name; SSL_CERT_FILE names a file of authorities of your own.",
        )
    if isinstance(error, ssl.SSLError):
        return ConnectionLostError(
            f"{account.where} does not speak TLS as it should: {error.reason or error}.",
            hint="Check the port (imaps is 993, nntps 563) and the server's certificate.",
        )
    if isinstance(error, TimeoutError):
        return ConnectionLostError(
            f"{account.where} does not answer.",
            hint="Check host and port, and that the server runs; what was read before is kept.",
        )
    return ConnectionLostError(
        f"{account.where} cannot be reached: {error.strerror or error}.",
        hint="Check host and port, and that the server runs; what was read before is kept.",
    )


def _bad_url(url: str) -> TapestryError:
    if url.lower().startswith("nntp"):
        return TapestryError(
            "This is not the URL of a newsgroup.",
            hint="Write nntps://news.example.org/comp.databases, or comp.* for all below comp.",
        )
    return TapestryError(
        "This is not the URL of an IMAP mailbox.",
        hint="Write imaps://user@host/INBOX; percent-encode an @ in the user name as %40.",
    )
