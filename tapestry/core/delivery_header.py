"""The headers of every message that Tapestry sends, signed, which prevent mail loops.

    X-Tapestry-Delivery: KEY; mac=HEX
    Message-ID: <KEY.HEX@HOST>             of what this site wrote
    Resent-Message-ID: <KEY.HEX@HOST>      of what it sent again

Mail that this site signed is never taken in, from whatever source it comes.  A list may drop the
first and add a footer; the others stay.  The MAC (HMAC-SHA-256, RFC 2104, cut to 128 bits) shows
who wrote a header: a stranger who writes one hides nothing.  That of a Resent-Message-ID covers the
Message-ID of what was sent again: it hides no other message.
Mail of another site is taken in, and two sites that forward to each other stop: the Message-ID
stays, so what comes back is a duplicate.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

DELIVERY_HEADER = "X-Tapestry-Delivery"
"""Its value has the key of the delivery (tapestry.deliver.batch.Batch) and a MAC."""

_FIELD = re.compile(
    rb"(?:\A|\n)(" + DELIVERY_HEADER.encode() + rb"|(?:Resent-)?Message-ID)[ \t]*:"
    rb"((?:[^\n]|\n[ \t])*)",
    re.IGNORECASE,
)
_END = re.compile(rb"\n\r?\n|\A\r?\n")
_MESSAGE_ID = re.compile(r"<?([!-;=?-~]{1,200})\.([0-9a-f]{32})@[^@<>\s]+>?")
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

    def message_id(self, key: str, host: str) -> str:
        """Return the Message-ID of what this site writes in a delivery.

        >>> signer = DeliverySigner(b"of this site")
        >>> signer.key_of_message_id(signer.message_id("digest-1-40", "x.org"))
        'digest-1-40'
        """
        return f"{key}.{self._mac(f'id {key}')}@{host}"

    def resent_message_id(self, key: str, host: str, original: bytes) -> str:
        """Return the Resent-Message-ID of a message that this site sends again."""
        return f"{key}.{self._mac(_resent(key, _message_id(_fields(original))))}@{host}"

    def key_of_message_id(self, value: str) -> str | None:
        """Return the key in a Message-ID, None if this site did not sign it."""
        return self._key_of_id(value, "id {}".format)

    def has_signed(self, raw: bytes) -> bool:
        r"""Return whether this site sent a message, or resent it: by the headers at its head.

        >>> DeliverySigner(b"of this site").has_signed(b"X-Tapestry-Delivery: 7\r\n\r\nHello")
        False
        """
        fields = list(_fields(raw))
        first = _message_id(fields)
        reads: dict[str, Callable[[str], str | None]] = {
            "message-id": self.key_of_message_id,
            "resent-message-id": partial(self._key_of_id, signed=partial(_resent, of=first)),
            DELIVERY_HEADER.lower(): self.key_of,
        }
        return any(reads[name](value) is not None for name, value in fields)

    def _key_of_id(self, value: str, signed: Callable[[str], str]) -> str | None:
        found = _MESSAGE_ID.fullmatch(value)
        if found is None or not hmac.compare_digest(found[2], self._mac(signed(found[1]))):
            return None
        return found[1]

    def _mac(self, key: str) -> str:
        return hmac.new(self.secret, key.encode(), hashlib.sha256).hexdigest()[:32]


def delivery_values(raw: bytes) -> Iterator[str]:
    r"""Return the values of the delivery headers in the header section of a message.

    Each site that resends a message adds one.

    >>> list(delivery_values(b"Subject: new\r\nx-tapestry-delivery: 7;\r\n mac=0\r\n\r\nHello"))
    ['7; mac=0']
    >>> list(delivery_values(b"Subject: new\r\n\r\nX-Tapestry-Delivery: in the text"))
    []
    """
    return (value for name, value in _fields(raw) if name == DELIVERY_HEADER.lower())


def _fields(raw: bytes) -> Iterator[tuple[str, str]]:
    """Yield the names, in lower case, and the values of the fields by which mail is known."""
    end = _END.search(raw)
    for found in _FIELD.finditer(raw, 0, end.start() if end else len(raw)):
        value = " ".join(found[2].decode("ascii", "replace").split())
        yield found[1].decode("ascii").lower(), value


def _message_id(fields: Iterable[tuple[str, str]]) -> str:
    return next((value for name, value in fields if name == "message-id"), "")


def _resent(key: str, of: str) -> str:
    """Return what the MAC of a Resent-Message-ID covers."""
    return f"resent {key} {of}"
