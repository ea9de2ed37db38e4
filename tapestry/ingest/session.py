"""Sessions with mail servers: one protocol, and a table of the kinds of server.

A new kind of source is one module and one line in ``KINDS``.  The module has a context manager
that connects, authenticates and yields a ``MailSession``::

    # tapestry/ingest/jmap/session.py
    @contextmanager
    def open_jmap(
        account: Account, timeout: float = TIMEOUT, seconds: float | None = None
    ) -> Iterator[JmapSession]: ...

    # here
    KINDS = {"jmap": SourceKind(open_jmap, 80, 443, ...), "imap": ..., "nntp": ...}

``manage.py ingest jmaps://user@host/Folder`` takes such mail in then.  For the page of sources
the kind is one more choice of ``filters.sources.models.Source.Kind``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import unquote, urlsplit

from tapestry.core.errors import TapestryError
from tapestry.core.ports import SyncStates
from tapestry.ingest.dav import open_dav
from tapestry.ingest.imap.session import open_imap
from tapestry.ingest.nntp.session import open_nntp
from tapestry.ingest.stream import CursorOf, ListedFolder, MessageStream
from tapestry.servers.account import ANYWHERE, TIMEOUT, Account, Security


class MailSession(Protocol):
    """An authenticated connection to a mail server.

    A folder is what IMAP calls a mailbox (RFC 9051) and NNTP a newsgroup (RFC 3977).
    """

    def list_folders(
        self, patterns: Sequence[str] = ("*",), hidden: Sequence[str] = ()
    ) -> list[ListedFolder]:
        """Return the folders that can be read, by name; of newsgroups, those that match.

        Those named in ``hidden``, and all below them, are left out.
        """

    def expand(self, patterns: Sequence[str], hidden: Sequence[str] = ()) -> list[str]:
        """Return the distinct names of the folders that names and patterns stand for.

        Those named in ``hidden``, and all below them, are left out.
        """

    def open(
        self, folder: str, audience: str, cursor_of: CursorOf, sync_states: SyncStates
    ) -> MessageStream:
        """Return the messages of a folder after its cursor, oldest first.

        Raises TapestryError if there is no such folder; reading it raises ConnectionLostError.
        """


@dataclass(frozen=True, slots=True)
class SourceKind:
    """A kind of mail server: what opens a session, its usual ports, and how its URL is read.

    ``folder`` is the folder of a URL that names none.  Servers where ``anonymous`` holds can
    be read without a user name.  Without a ``password_variable`` there is no mail in it.
    """

    open: Callable[[Account, float, float | None], AbstractContextManager[MailSession]]
    port: int
    tls_port: int
    password_variable: str
    called: str
    folder: str = ""
    anonymous: bool = False
    example: str = ""

    def password(self) -> str | None:
        """Return the password in the environment, None if there is none."""
        return os.environ.get(self.password_variable)


KINDS = {
    "imap": SourceKind(
        open_imap, 143, 993, "TAPESTRY_IMAP_PASSWORD", "an IMAP mailbox", "INBOX",
        example="Write imaps://user@host/INBOX; percent-encode an @ in the user name as %40.",
    ),
    "nntp": SourceKind(
        open_nntp, 119, 563, "TAPESTRY_NNTP_PASSWORD", "a newsgroup", anonymous=True,
        example="Write nntps://news.example.org/comp.databases, or comp.* for all below comp.",
    ),
    "carddav": SourceKind(open_dav, 80, 443, "", "an address book"),
    "caldav": SourceKind(open_dav, 80, 443, "", "a calendar"),
}  # fmt: skip
"""The kinds of server, by the scheme of their URLs; with an ``s`` at its end, it is TLS."""


def open_session(
    account: Account, timeout: float = TIMEOUT, seconds: float | None = None
) -> AbstractContextManager[MailSession]:
    """Connect and authenticate for the length of the block.

    ``timeout`` is seconds an answer, ``seconds`` limits all of it.  Raises ConnectionLostError or
    RefusedError, in words.
    """
    return KINDS[account.kind].open(account, timeout, seconds)


def usual_port(kind: str, *, tls: bool) -> int:
    """Return the usual port of a kind of server.

    >>> usual_port("imap", tls=True)
    993
    """
    return KINDS[kind].tls_port if tls else KINDS[kind].port


def kind_of(scheme: str) -> str | None:
    """Return the kind of server that the scheme of a URL names, or None.

    >>> kind_of("IMAPS"), kind_of("http")
    ('imap', None)
    """
    scheme = scheme.lower()
    kind = scheme if scheme in KINDS else scheme.removesuffix("s")
    return kind if kind in KINDS else None


def read_url(url: str) -> tuple[Account, str]:
    """Read ``imap(s)://`` or ``nntp(s)://[user[:password]@]host[:port]/FOLDER``.

    Such a URL is the operator's: its server may be on any host.  Every part may be
    percent-encoded.  Return the account and the folder, which may be empty.
    Without TLS from the start, a user is authenticated after STARTTLS if the server has it.

    >>> read_url("nntps://news.x.org/comp.misc")[0].port
    563
    """
    name = kind_of(url.partition(":")[0]) or "imap"
    kind = KINDS[name]
    if not kind.password_variable:
        hint = "Add it on the page Sources, and filters can speak of what is in it."
        raise TapestryError(f"There is no mail in {kind.called}.", hint=hint)
    refused = TapestryError(f"This is not the URL of {kind.called}.", hint=kind.example)
    try:
        parts = urlsplit(url)
        tls = parts.scheme.lower().endswith("s")
        port = parts.port or usual_port(name, tls=tls)
    except ValueError as error:
        raise refused from error
    if not parts.hostname or not (kind.anonymous or parts.username):
        raise refused
    # Without a user name there is no secret to protect.
    security: Security = "tls" if tls else "starttls" if parts.username else "none"
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    account = Account(name, parts.hostname, port, security, user, password, allowed=ANYWHERE)
    return account, unquote(parts.path.strip("/"))
