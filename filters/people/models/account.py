"""People: what they say of themselves, and the names that are not free."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models

from tapestry.core.errors import TapestryError
from tapestry.deliver.timing.quiet import Rules
from tapestry.deliver.timing.timeliness import parse_timeliness

if TYPE_CHECKING:
    from filters.authoring.compilation.ahead import Ahead

LAST_MINUTE = 24 * 60 - 1
"""The last minute of a day, counted from midnight."""


def validate_timeliness(text: str) -> None:
    """Raise ValidationError, in words, unless a text says when matches are shown."""
    try:
        parse_timeliness(text)
    except TapestryError as error:
        raise ValidationError(f"{error.message} {error.hint}") from error


class User(AbstractUser):
    """A person with an account: what they say of themselves; mail goes by the name.

    ``aliases``: the addresses beside the account's that are `me`.  ``timeliness`` is that of all
    their filters that have none of their own.  Quiet hours are minutes after midnight, and may
    span it; there are none while either is null.  Nothing is shown or sent before the day
    ``holiday_until`` begins.  ``shortcuts``: single keys act on messages.  ``text_senders``: those
    whose HTML they read as text.  ``conversations``: lists have a line for each conversation, not
    for each message.  ``claimed_email`` is the last address of their account that they wrote
    themselves, which is to be proven (filters.people.emails).
    """

    time_zone = models.CharField(max_length=64, default="UTC")
    aliases = models.JSONField(default=list, blank=True)
    timeliness = models.CharField(
        max_length=60, default="at once", validators=[validate_timeliness]
    )
    quiet_from = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=[MaxValueValidator(LAST_MINUTE)]
    )
    quiet_to = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=[MaxValueValidator(LAST_MINUTE)]
    )
    holiday_until = models.DateField(null=True, blank=True)
    shortcuts = models.BooleanField(default=True)
    text_senders = models.JSONField(default=list, blank=True, editable=False)
    conversations = models.BooleanField(default=True)
    claimed_email = models.EmailField(max_length=254, default="", blank=True, editable=False)

    def save(self, *args: Any, ahead: Ahead | None = None, **options: Any) -> None:
        """Save; their filters and what waits in these follow.

        ``ahead`` is what was compiled before, in ``saving``.
        """
        from filters.authoring import visibility_changes

        with visibility_changes.followed(self, options.get("update_fields"), ahead):
            super().save(*args, **options)

    @contextmanager
    def saving(self, fields: Collection[str]) -> Iterator[Callable[[], None]]:
        """Begin the transaction in which these fields are saved; yield what saves them.

        What takes long is done before, and holds up nobody.
        """
        from filters.authoring import visibility_changes

        with visibility_changes.compiled_ahead(self, fields) as ahead:
            yield partial(self.save, update_fields=fields, ahead=ahead)

    @property
    def zone(self) -> ZoneInfo:
        """Return the time zone in which this person reads times and is sent digests."""
        return ZoneInfo(self.time_zone)

    @property
    def rules(self) -> Rules:
        """Return when nothing is shown or sent to this person."""
        return Rules(self.quiet_from, self.quiet_to, self.holiday_until)


class RetiredName(models.Model):
    """The audience of an account or group that is gone, or has another name, and its key.

    While its mail is here nobody else may have that name (filters.people.names.retired_names).
    ``is_kept``: nobody may ever, for its person has left, and what they said stays under it.
    """

    name = models.CharField(max_length=200, unique=True)
    key = models.BigIntegerField()
    is_kept = models.BooleanField(default=False)

    def __str__(self) -> str:
        return self.name
