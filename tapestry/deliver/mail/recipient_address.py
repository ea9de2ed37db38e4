"""Addresses that people type and that this site then sends to: which of them are refused.

A mail server may take what stands before the @ for an option, a pipe, a file or a route, and what
stands after it for itself.  The rule is that of Exim's default access list, and Postfix's
``allow_min_user``; quoted local parts and address literals are refused with it.
"""

from __future__ import annotations

import re

from tapestry.core.errors import TapestryError
from tapestry.deliver.mail.headers import ascii_address
from tapestry.deliver.one_line import one_line

_LOCAL = r"(?![-.~])[A-Za-z0-9_.+=&'#~*?^{}-]{1,64}"
_HOST = r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])"
_ADDRESS = re.compile(rf"{_LOCAL}@(?!(?:.*\.)?local(?:host|domain)$){_HOST}", re.IGNORECASE)


def recipient_address(address: str) -> str:
    """Return an address that somebody typed as SMTP takes it (headers.ascii_address).

    >>> recipient_address("O'Brien+lists@Bücher.example")
    "O'Brien+lists@xn--bcher-kva.example"

    Raise TapestryError, in a sentence, if mail is not to be sent there.
    """
    try:
        written = ascii_address(address)
    except TapestryError:
        written = ""
    if not _ADDRESS.fullmatch(written):
        raise TapestryError(
            f"“{one_line(address, 80)}” is not an address that mail can be sent to.",
            hint="Write one such as terry@example.com.",
        )
    return written
