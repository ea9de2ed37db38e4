"""A browser's side of web push: its keys, and what it reads of what a push service was sent."""

from __future__ import annotations

import json
import os
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from typing import Any

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import jwt

from tests.support.servers.http_recorder import Request


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


@dataclass(frozen=True)
class Browser:
    """The key pair and the shared secret of a subscription."""

    key: ec.EllipticCurvePrivateKey
    auth: bytes

    @classmethod
    def new(cls) -> Browser:
        """Return a browser with new keys."""
        return cls(ec.generate_private_key(ec.SECP256R1()), os.urandom(16))

    @property
    def auth_text(self) -> str:
        """Return the shared secret as base64url."""
        return _text(self.auth)

    def subscription(self, endpoint: str) -> dict[str, Any]:
        """Return what ``PushSubscription.toJSON()`` gives."""
        point = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        keys = {"p256dh": _text(point), "auth": self.auth_text}
        return {"endpoint": endpoint, "keys": keys}

    def decrypt(self, request: Request) -> dict[str, str]:
        """Return the notification in a request (RFC 8291)."""
        assert request.headers["Content-Encoding"] == "aes128gcm"
        text = http_ece.decrypt(
            request.body, private_key=self.key, auth_secret=self.auth, version="aes128gcm"
        )
        return json.loads(text)


def vapid_claims(request: Request) -> tuple[dict[str, Any], str]:
    """Return the claims of a request's token, its signature checked, and the key (RFC 8292)."""
    scheme, _, parameters = request.headers["Authorization"].partition(" ")
    assert scheme == "vapid"
    fields = dict(parameter.strip().split("=", 1) for parameter in parameters.split(","))
    return jwt.decode(fields["t"], fields["k"]), fields["k"]
