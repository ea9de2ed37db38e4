"""A receiver of webhooks: it verifies what it is sent, as Standard Webhooks 1.0 says."""

from __future__ import annotations

import base64
import hashlib
import hmac

from tapestry.core.clock import MINUTE, SECOND
from tapestry.core.errors import TapestryError

TOLERANCE = 5 * MINUTE
"""The most by which clocks of sender and receiver may be apart, in microseconds."""


def verify(headers, body, secret, now):
    """Return the id of a request's delivery, if the signature is right and new.

    ``headers`` may be written in any case.  TapestryError if the request is not what the owner of
    the secret sent just now.
    """
    fields = {name.lower(): value for name, value in headers.items()}
    delivery, timestamp = (fields.get(f"webhook-{name}", "") for name in ("id", "timestamp"))
    is_number = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12
    if not is_number or abs(int(timestamp) * SECOND - now) > TOLERANCE:
        raise TapestryError("The request was not signed within the last five minutes.")
    key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    signed = hmac.digest(key, f"{delivery}.{timestamp}.".encode() + body, hashlib.sha256)
    expected = b"v1," + base64.b64encode(signed)
    signatures = fields.get("webhook-signature", "").encode("utf-8", "replace").split()
    if not any(hmac.compare_digest(expected, signature) for signature in signatures):
        raise TapestryError("The signature of the request is not right.")
    return delivery
