"""TAPESTRY_AUTHSERV: which servers of mailboxes add Authentication-Results that are trusted."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from tapestry.core.errors import TapestryError

_ENTRY = re.compile(
    r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([1-9][0-9]{0,4}))?=([A-Za-z0-9.:_-]+)"
)
_IMAPS = 993
"""The port of a mailbox server that is named without a port."""

Server = tuple[str, int]
"""A host, in small letters, and its port, where TLS is spoken from the beginning."""


def trusted_servers(text: str) -> dict[Server, str]:
    """Return the trusted authserv-id of each mailbox server, by its host and port.

    Raise TapestryError if the text is no such list.

    >>> trusted_servers("imap.example.org=mx.example.org")
    {('imap.example.org', 993): 'mx.example.org'}
    """
    trusted = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        pair = _ENTRY.fullmatch(entry)
        if pair is None:
            raise TapestryError(
                f"TAPESTRY_AUTHSERV: “{entry}” names no server and its authserv-id.",
                hint="Write imap.example.org=mx.example.org, with commas between; "
                "imap.example.org:1993=… for a port other than 993.",
            )
        trusted[pair[1].lower().strip("[]"), int(pair[2] or _IMAPS)] = pair[3]
    return trusted


def server_of(url: str) -> Server | None:
    """Return the mailbox server of a source by its URL; None if it was read without TLS.

    >>> server_of("imaps://joe@imap.example.org:993/INBOX")
    ('imap.example.org', 993)
    >>> server_of("imap://joe@imap.example.org:993/INBOX")
    """
    try:
        parts = urlsplit(url)
        server = parts.hostname or "", parts.port or _IMAPS
    except ValueError:
        return None
    return server if parts.scheme == "imaps" else None
