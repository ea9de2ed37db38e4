"""A part of the password policy: a password that is little more than a name is guessed first.

Django's validator of similarity lets `terry12345` pass for terry: it is two thirds of a name.
"""

from __future__ import annotations

from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import ValidationError

SHORTEST_NAME = 3
"""Characters; shorter names occur in words."""


class NameInPasswordValidator:
    """Refuses a password that is too short once the names of its account are left out of it."""

    def __init__(self, min_length: int = 10) -> None:
        self.min_length = min_length

    def validate(self, password: str, user: AbstractBaseUser | None = None) -> None:
        """Raise ValidationError if a name is most of a password."""
        rest = password.casefold()
        for name in sorted(_names(user), key=len, reverse=True):
            rest = rest.replace(name, "")
        if len(rest) < min(self.min_length, len(password.casefold())):
            raise ValidationError("This password is little more than a name.", code="name")

    def get_help_text(self) -> str:
        return "Your password can’t be little more than your name."


def _names(user: AbstractBaseUser | None) -> set[str]:
    """Return the names of an account in lower case; of its address, what stands before the @."""
    fields = ("username", "first_name", "last_name", "email")
    values = (str(getattr(user, field, "") or "") for field in fields)
    names = {value.partition("@")[0].strip().casefold() for value in values}
    return {name for name in names if len(name) >= SHORTEST_NAME}
