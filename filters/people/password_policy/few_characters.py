"""A part of the password policy: a few characters again and again are guessed first."""

from __future__ import annotations

from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import ValidationError


class FewCharactersValidator:
    """Refuses a password of too few different characters, such as ``aaaaaaaaab``."""

    def __init__(self, least: int = 5) -> None:
        self.least = least

    def validate(self, password: str, user: AbstractBaseUser | None = None) -> None:
        """Raise ValidationError if a password repeats the same few characters, in any capitals."""
        if len(set(password.casefold())) < self.least:
            raise ValidationError(self.get_help_text(), code="few_characters")

    def get_help_text(self) -> str:
        return f"It must have at least {self.least} different characters."
