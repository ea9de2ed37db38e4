"""Return paths: each delivery has its own envelope sender, so that a bounce shows what it is about.

    tapestry+TOKEN@example.org       (VERP, variable envelope return paths)

Only who is given the envelope has the token: it is in no header that this site writes, so a copy
of a message tells nobody how to bounce it.  It names the address and the delivery, encrypted, and
ends after some days.  It is in lower case, for servers fold the left side of addresses.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from base64 import b32decode, b32encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tapestry.core.clock import DAY

LASTS = 14
"""Days for which a return path can bounce: servers try for five."""

_MAC = 10
_TOKEN = re.compile(r"[a-z2-7]{34}")
_EPOCHS = 1 << 16


@dataclass(frozen=True, slots=True)
class Returned:
    """The names in a return path: the key of an address, and eight digits of the delivery's."""

    address: int
    delivery: str


@dataclass(frozen=True, slots=True)
class ReturnPaths:
    """Makes return paths, and knows them again.

    ``pattern`` is an address with ``*`` where the token stands; without one it is the same for all
    deliveries, and nothing that comes back is known.

    >>> paths = ReturnPaths(b"of this site", "tapestry+*@x.org")
    >>> path, email_of = paths.of(7, "ann@y.org", "digest-1-40", DAY), {7: "ann@y.org"}.get
    >>> paths.returned([path], 2 * DAY, email_of)
    Returned(address=7, delivery='4382657e')
    >>> paths.returned([path], 16 * DAY, email_of)
    >>> paths.returned([path], 2 * DAY, {7: "joe@y.org"}.get)
    """

    secret: bytes = field(repr=False)
    pattern: str

    def of(self, address: int, email: str, key: str, now: int) -> str:
        """Return the envelope sender of a delivery to an address, by the keys of both."""
        delivery = hashlib.sha256(key.encode()).digest()[:4]
        named = address.to_bytes(5, "big") + (now // DAY % _EPOCHS).to_bytes(2, "big") + delivery
        mac = self._mac(named, email)
        token = b32encode(mac + _xor(named, self._keyed(b"pad", mac))).decode().rstrip("=").lower()
        return self.pattern.replace("*", token)

    def returned(
        self, recipients: Iterable[str], now: int, email_of: Callable[[int], str | None]
    ) -> Returned | None:
        """Return what the first return path of ours names among the recipients of a bounce.

        It counts for the address that it was made for: after a restore another may have its key.
        """
        before, star, after = self.pattern.lower().partition("*")
        for recipient in recipients if star else ():
            folded = recipient.lower()
            token = folded.removeprefix(before).removesuffix(after)
            if folded == f"{before}{token}{after}" and _TOKEN.fullmatch(token):
                sealed = b32decode(f"{token.upper()}======")
                mac, named = sealed[:_MAC], _xor(sealed[_MAC:], self._keyed(b"pad", sealed[:_MAC]))
                age = (now // DAY - int.from_bytes(named[5:7], "big")) % _EPOCHS
                returned = Returned(int.from_bytes(named[:5], "big"), named[7:].hex())
                email = email_of(returned.address) if age <= LASTS else None
                if email is not None and hmac.compare_digest(mac, self._mac(named, email)):
                    return returned
        return None

    def _mac(self, named: bytes, email: str) -> bytes:
        return self._keyed(b"mac", named + email.encode())[:_MAC]

    def _keyed(self, purpose: bytes, text: bytes) -> bytes:
        return hmac.new(self.secret, purpose + text, hashlib.sha256).digest()


def _xor(text: bytes, pad: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(text, pad, strict=False))
