"""Browsers that are notified: each has keys of its own, and reads what a push service gives it.

site ─ encrypted (RFC 8291) ─> push service, in the coordinator ─ decrypted here ─> history
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from typing import Any

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

PLACE = "/push/"
"""The path of the push service; the number of a browser follows."""


def address(number: int) -> str:
    """Return the address of a browser at its push service."""
    return f"http://127.0.0.1:80{PLACE}{number}"


def subscription(number: int) -> str:
    """Return the subscription of a browser as its page sends it."""
    point = _key(number).public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    keys = {"p256dh": _encoded(point), "auth": _encoded(_secret(number))}
    return json.dumps({"endpoint": address(number), "keys": keys})


def read(path: str, body: bytes) -> dict[str, Any]:
    """Return the notification in what was sent to the browser at a path."""
    number = int(path.removeprefix(PLACE))
    content = http_ece.decrypt(body, private_key=_key(number), auth_secret=_secret(number))
    notification: dict[str, Any] = json.loads(content)
    return notification


def _key(number: int) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(number + 1, ec.SECP256R1())


def _secret(number: int) -> bytes:
    return number.to_bytes(16, "big")


def _encoded(value: bytes) -> str:
    return urlsafe_b64encode(value).rstrip(b"=").decode()
