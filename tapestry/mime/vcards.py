"""Addresses in a file of contacts: vCard (RFC 6350), in any of its versions."""

from __future__ import annotations

import re

from tapestry.core.errors import TapestryError
from tapestry.mime.charset import decode

LARGEST = 1 << 23
"""Bytes of a file: pictures of a hundred people have their place in it."""

_FOLD = re.compile(r"\r?\n[ \t]")
_CARD = re.compile(r"^BEGIN:VCARD\s*$", re.IGNORECASE | re.MULTILINE)
_EMAIL = re.compile(
    r'^(?:[\w-]+\.)?EMAIL(?:;(?:[^":\r\n]|"[^"\r\n]*")*)?:(?:mailto:)?([^\s@]{1,200}@[^\s@,;]{1,255})\s*$',
    re.IGNORECASE | re.MULTILINE,
)


def addresses_in(raw: bytes) -> list[str]:
    r"""Return the addresses in a file of contacts, in small letters, each once, in order.

    >>> addresses_in(b"BEGIN:VCARD\nitem1.EMAIL;TYPE=home:Ann@X.org\nTEL:1\nEND:VCARD")
    ['ann@x.org']

    Raise TapestryError, in a sentence, if there is no card in it, or if it is too large.
    """
    if len(raw) > LARGEST:
        message = f"This file is larger than {LARGEST >> 20} MB."
        raise TapestryError(message, hint="Export the contacts without pictures, or in parts.")
    text = _FOLD.sub("", decode(raw.removeprefix(b"\xef\xbb\xbf")))
    if not _CARD.search(text):
        message = "There is no contact in this file."
        raise TapestryError(message, hint="Choose a vCard file (.vcf), as address books export it.")
    return list(dict.fromkeys(found[1].lower() for found in _EMAIL.finditer(text)))
