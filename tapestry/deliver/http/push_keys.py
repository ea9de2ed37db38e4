"""Keys of web push: those of this site (VAPID, RFC 8292) and those of a subscribed browser."""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from tapestry.core.errors import TapestryError
from tapestry.servers.private_hosts import read_target


@dataclass(frozen=True, slots=True)
class VapidKeys:
    """The key pair of this site, and whom a push service can ask about what it sends.

    ``private_pem`` is secret; ``public_key`` is what pages give to ``pushManager.subscribe`` as
    ``applicationServerKey``.  ``contact`` begins with ``mailto:`` or ``https:``.
    """

    private_pem: str = field(repr=False)
    public_key: str
    contact: str


@dataclass(frozen=True, slots=True)
class PushSubscription:
    """The subscription of a browser (``PushSubscription.toJSON()``): keys are base64url."""

    endpoint: str
    p256dh: str
    auth: str = field(repr=False)

    def as_browsers_write_it(self) -> dict[str, object]:
        """Return the JSON object that the browser gave."""
        return {"endpoint": self.endpoint, "keys": {"p256dh": self.p256dh, "auth": self.auth}}


def make_private_pem() -> str:
    """Return a new private key of P-256 as PEM; subscriptions are bound to it, so it is kept."""
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode("ascii")


def read_vapid_keys(private_pem: str, contact: str) -> VapidKeys:
    """Return the key pair of a private key that was kept.

    Raise TapestryError if it is no private key of P-256.
    """
    try:
        key = load_pem_private_key(private_pem.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        raise TapestryError(
            "The key of this site for notifications is no private key of P-256.",
            hint="Bring the file back from a backup; with a new key every browser must ask again.",
        )
    point = key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    public_key = urlsafe_b64encode(point).rstrip(b"=").decode("ascii")
    return VapidKeys(private_pem, public_key, contact)


def read_subscription(document: object) -> PushSubscription:
    """Return the subscription that a browser sent, its keys checked.

    Raise TapestryError if it is none; its address is only read, not looked up.
    """
    keys = document.get("keys") if isinstance(document, Mapping) else None
    if not isinstance(document, Mapping) or not isinstance(keys, Mapping):
        raise _no_subscription()
    parts = document.get("endpoint"), keys.get("p256dh"), keys.get("auth")
    endpoint, p256dh, auth = (part if isinstance(part, str) else "" for part in parts)
    read_target(endpoint)
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), _decoded(p256dh))
    except ValueError as error:
        raise _no_subscription() from error
    if len(_decoded(auth)) != 16:
        raise _no_subscription()
    return PushSubscription(endpoint, p256dh, auth)


def _decoded(text: str) -> bytes:
    """Return the bytes of base64url, with or without its padding; none if it is not that."""
    try:
        return urlsafe_b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4))
    except (binascii.Error, ValueError):
        return b""


def _no_subscription() -> TapestryError:
    return TapestryError(
        "This is not the subscription of a browser.",
        hint="Allow notifications for this site in the browser, and subscribe again.",
    )
