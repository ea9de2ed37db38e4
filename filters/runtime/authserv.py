"""TAPESTRY_AUTHSERV: which servers of mailboxes add Authentication-Results that are trusted."""

from __future__ import annotations

import re

from tapestry.core.errors import TapestryError

_ENTRY = re.compile(r"([A-Za-z0-9.:_-]+)=([A-Za-z0-9.:_-]+)")


def trusted_servers(text: str) -> dict[str, str]:
    """Return the trusted authserv-id of each mailbox server, by the name of its host.

    Raise TapestryError if the text is no such list.

    >>> trusted_servers("imap.example.org=mx.example.org")
    {'imap.example.org': 'mx.example.org'}
    """
    trusted = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        pair = _ENTRY.fullmatch(entry)
        if pair is None:
            raise TapestryError(
                f"TAPESTRY_AUTHSERV: “{entry}” names no server and its authserv-id.",
                hint="Write imap.example.org=mx.example.org, with commas between.",
            )
        trusted[pair[1].lower()] = pair[2]
    return trusted
