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
import secrets
from collections.abc import Mapping

from tapestry.core.clock import MINUTE, SECOND
from tapestry.core.errors import TapestryError

PREFIX = "whsec_"
TOLERANCE = 5 * MINUTE
"""The most by which clocks of sender and receiver may be apart, in microseconds."""


def make_secret() -> str:
    """Return a new random secret of 32 bytes, as text to be shown to its owner."""
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode("ascii")


def signed_headers(delivery: str, body: bytes, secret: str, now: int) -> dict[str, str]:
    """Return the three header fields that identify and sign a request.

    ``delivery`` is the same however often a request is tried; it has no full stop in it, which
    is what separates the signed parts.
    """
    if "." in delivery:
        raise ValueError(f"the name of a delivery has a full stop in it: {delivery}")
    timestamp = str(now // SECOND)
    return {
        "webhook-id": delivery,
        "webhook-timestamp": timestamp,
        "webhook-signature": "v1," + _signature(delivery, timestamp, body, secret),
    }


def verify(headers: Mapping[str, str], body: bytes, secret: str, now: int) -> str:
    """Return the id of a request's delivery, if the signature is right and new: for receivers.

    ``headers`` may be written in any case.  The id is to be remembered: a request with one that
    was seen before is the same delivery tried again.

    Raise TapestryError if the request is not what the owner of the secret sent just now.
    """
    fields = {name.lower(): value for name, value in headers.items()}
    delivery = fields.get("webhook-id", "")
    timestamp = fields.get("webhook-timestamp", "")
    is_number = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12
    if not is_number or abs(int(timestamp) * SECOND - now) > TOLERANCE:
        raise TapestryError("The request was not signed within the last five minutes.")
    expected = b"v1," + _signature(delivery, timestamp, body, secret).encode("ascii")
    signatures = fields.get("webhook-signature", "").encode("utf-8", "replace").split()
    if not any(hmac.compare_digest(expected, signature) for signature in signatures):
        raise TapestryError("The signature of the request is not right.")
    return delivery


def _signature(delivery: str, timestamp: str, body: bytes, secret: str) -> str:
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise TapestryError(f"A secret of a webhook is {PREFIX} and base64.") from None
    signed = f"{delivery}.{timestamp}.".encode() + body
    return base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode("ascii")
