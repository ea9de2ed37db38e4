"""Signatures of webhooks: HMAC-SHA256 as the Standard Webhooks specification 1.0 has it.

The sender signs ``id.timestamp.body`` with a secret that it shares with the receiver, so the
receiver knows who sent the request, that nobody changed it, and that it is not an old one sent
again (a replay).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence
from secrets import token_bytes

from tapestry.core.clock import SECOND
from tapestry.core.errors import TapestryError

PREFIX = "whsec_"


def make_secret() -> str:
    """Return a new random secret of 32 bytes, as text to be shown to its owner."""
    return PREFIX + base64.b64encode(token_bytes(32)).decode("ascii")


def signed_headers(delivery: str, body: bytes, secrets: Sequence[str], now: int) -> dict[str, str]:
    """Return the three header fields that identify and sign a request, by each of some secrets.

    While a secret is changed there are two: a receiver that has either knows the request is ours.
    ``delivery`` is the same however often a request is tried; it has no full stop in it, which
    is what separates the signed parts.
    """
    if "." in delivery:
        raise ValueError(f"the name of a delivery has a full stop in it: {delivery}")
    timestamp = str(now // SECOND)
    return {
        "webhook-id": delivery,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(
            f"v1,{_signature(delivery, timestamp, body, secret)}" for secret in secrets
        ),
    }


def _signature(delivery: str, timestamp: str, body: bytes, secret: str) -> str:
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise TapestryError(f"A secret of a webhook is {PREFIX} and base64.") from None
    signed = f"{delivery}.{timestamp}.".encode() + body
    return base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode("ascii")
