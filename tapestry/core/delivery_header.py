"""The header of every message that Tapestry sends, signed, which prevents mail loops.

    X-Tapestry-Delivery: KEY; mac=HEX

Mail that this site signed is never taken in, from whatever source it comes.  The MAC (HMAC-SHA-256,
RFC 2104, cut to 128 bits) shows who wrote the header: a stranger who writes one hides nothing.
Mail of another site is taken in, and two sites that forward to each other stop: the Message-ID
stays, so what comes back is a duplicate.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

DELIVERY_HEADER = "X-Tapestry-Delivery"
"""Its value has the key of the delivery (tapestry.deliver.batch.Batch) and a MAC."""

_FIELD = re.compile(
    rb"(?:\A|\n)" + DELIVERY_HEADER.encode() + rb"[ \t]*:((?:[^\n]|\n[ \t])*)", re.IGNORECASE
)
_END = re.compile(rb"\n\r?\n|\A\r?\n")
_VALUE = re.compile(r"([!-:<-~]{1,200});\s*mac=([0-9a-f]{32})")


@dataclass(frozen=True, slots=True)
class DeliverySigner:
    """Signs the keys of deliveries with a secret of this site, and knows them again.

    >>> signer = DeliverySigner(b"of this site")
    >>> signer.key_of(signer.value("digest-1-40"))
    'digest-1-40'
    >>> signer.key_of("digest-1-40; mac=00000000000000000000000000000000")
    """

    secret: bytes = field(repr=False)

    def value(self, key: str) -> str:
        """Return the value of the header for a delivery."""
        return f"{key}; mac={self._mac(key)}"

    def key_of(self, value: str) -> str | None:
        """Return the key in the value of a header, None if this site did not sign it."""
        found = _VALUE.fullmatch(value.strip())
        if found is None or not hmac.compare_digest(found[2], self._mac(found[1])):
            return None
        return found[1]

    def has_signed(self, raw: bytes) -> bool:
        r"""Return whether this site sent a message, or resent it: by the headers at its head.

        >>> DeliverySigner(b"of this site").has_signed(b"X-Tapestry-Delivery: 7\r\n\r\nHello")
        False
        """
        return any(self.key_of(value) is not None for value in delivery_values(raw))

    def _mac(self, key: str) -> str:
        return hmac.new(self.secret, key.encode(), hashlib.sha256).hexdigest()[:32]


def delivery_values(raw: bytes) -> Iterator[str]:
    r"""Yield the values of the delivery headers in the header section of a message.

    Each site that resends a message adds one.

    >>> list(delivery_values(b"Subject: new\r\nx-tapestry-delivery: 7;\r\n mac=0\r\n\r\nHello"))
    ['7; mac=0']
    >>> list(delivery_values(b"Subject: new\r\n\r\nX-Tapestry-Delivery: in the text"))
    []
    """
    end = _END.search(raw)
    for found in _FIELD.finditer(raw, 0, end.start() if end else len(raw)):
        yield " ".join(found[1].decode("ascii", "replace").split())


def nothing_is_ours(raw: bytes) -> bool:
    """Return False: where no signer is given, all mail is that of others."""
    return False
