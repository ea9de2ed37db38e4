"""Codes of an authenticator app: TOTP (RFC 6238) with what all apps can do.

Six digits, SHA-1, steps of 30 seconds; a code is taken for a step more on either side.
"""

from __future__ import annotations

import base64
import secrets

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from django.utils.crypto import constant_time_compare

from filters.people.models import AuthenticatorApp, User
from filters.site.work.crypto.encryption import decrypt, encrypt
from filters.site.work.parts import services
from tapestry.core.clock import SECOND, wall_clock

ISSUER = "Tapestry"
DIGITS = 6
STEP = 30
"""Seconds."""

DRIFT = 1
"""Steps by which the clock of a phone may differ."""


def new_secret() -> str:
    """Return a new secret: 160 bits in base32, as apps take it."""
    return base64.b32encode(secrets.token_bytes(20)).decode()


def address(secret: str, name: str, host: str) -> str:
    """Return the ``otpauth:`` address of a secret, which a QR code shows to an app."""
    return _totp(secret).get_provisioning_uri(f"{name}@{host}", ISSUER)


def code_at(secret: str, step: int) -> str:
    """Return the code of a step: six digits."""
    return _totp(secret).generate(step * STEP).decode()


def step_now() -> int:
    return wall_clock() // (STEP * SECOND)


def matching_step(secret: str, code: str) -> int | None:
    """Return the step that a code is of, now or a step around; None if it is of none."""
    steps = range(step_now() - DRIFT, step_now() + DRIFT + 1)
    same = [step for step in steps if constant_time_compare(code_at(secret, step), code)]
    return same[0] if same else None


def store(owner: User, secret: str, step: int) -> None:
    """Let an app be the second factor of a person; the code of a step was typed."""
    stored = {
        "secret": encrypt(secret, services.data()),
        "last_step": step,
        "created_at": wall_clock(),
    }
    AuthenticatorApp.objects.update_or_create(owner=owner, defaults=stored)


def take(owner: User, code: str) -> bool:
    """Tell whether a code is that of the person's app, and was not taken before."""
    app = AuthenticatorApp.objects.filter(owner=owner).first()
    if app is None or not (code.isascii() and code.isdecimal() and len(code) == DIGITS):
        return False
    step = matching_step(decrypt(app.secret, services.data()), code)
    newer = AuthenticatorApp.objects.filter(pk=app.pk, last_step__lt=step or 0)
    return step is not None and newer.update(last_step=step) == 1


def _totp(secret: str) -> TOTP:
    return TOTP(base64.b32decode(secret), DIGITS, SHA1(), STEP)
