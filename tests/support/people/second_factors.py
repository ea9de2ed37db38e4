"""Second factors of people in tests: an app whose codes are known, and a clock that is set."""

from __future__ import annotations

from django.test import Client

from filters.people.models import AuthenticatorApp, User
from filters.people.second_factor import totp
from filters.site.work.crypto.encryption import encrypt
from filters.site.work.parts import services

SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
"""That of the examples of RFC 6238, in base32."""

PASSWORD = "secret"


def give_app(user: User) -> None:
    """Let a person have an authenticator app of which no code was taken yet."""
    secret = encrypt(SECRET, services.data())
    AuthenticatorApp.objects.create(owner=user, secret=secret, created_at=1)


def code(steps: int = 0) -> str:
    """Return the code that the app shows so many steps from now."""
    return totp.code_at(SECRET, totp.step_now() + steps)


def wrong_code() -> str:
    """Return six digits that the app does not show around now."""
    near = {code(steps) for steps in range(-2, 3)}
    return next(f"{number:06}" for number in range(10) if f"{number:06}" not in near)


def give_password(client: Client, user: User, **more: str) -> str:
    """Give the password on the page to sign in; return where it leads."""
    given = {"username": user.username, "password": PASSWORD, **more}
    return client.post("/sign-in/", given).headers.get("Location", "")


def confirm(client: Client, **more: str) -> int:
    """Show that it is they; return the status of the answer."""
    return client.post("/me/confirm/", {"password": PASSWORD, **more}).status_code
