"""People: what they say of themselves, and the names that are not free."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import models


class Profile(models.Model):
    """What a person says of themselves: their time zone, and the addresses that are `me`."""

    user = models.OneToOneField(User, models.CASCADE, related_name="profile")
    time_zone = models.CharField(max_length=64, default="UTC")
    aliases = models.JSONField(default=list, blank=True, help_text="Addresses beside the account's")

    def __str__(self) -> str:
        return self.user.get_username()


class RetiredName(models.Model):
    """The audience of an account or group that is gone, or has another name, and its key.

    While its mail is here nobody else may have that name (filters.accounts.retired_names).
    """

    name = models.CharField(max_length=200, unique=True)
    key = models.BigIntegerField()

    def __str__(self) -> str:
        return self.name
