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
from tapestry.deliver.timing.workdays import WEEKDAYS, calendar_of

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


def validate_usual_timeliness(text: str) -> None:
    """Raise ValidationError unless a text says when matches are shown, of whatever message."""
    validate_timeliness(text)
    if parse_timeliness(text).workdays:
        raise ValidationError("Working days are for single filters; choose another usual time.")


def validate_holidays(text: str) -> None:
    """Raise ValidationError, in words, unless each line of a text is a day."""
    _validate_calendar(WEEKDAYS, text)


def validate_workdays(text: str) -> None:
    """Raise ValidationError unless a text is digits of weekdays, one at least."""
    _validate_calendar(text, "")


def _validate_calendar(workdays: str, holidays: str) -> None:
    try:
        calendar_of(workdays, holidays)
    except TapestryError as error:
        raise ValidationError(f"{error.message} {error.hint}".strip()) from error


class User(AbstractUser):
    """A person with an account: what they say of themselves; mail goes by the name.

    ``aliases``: the addresses beside the account's that are `me`.  ``timeliness`` is that of all
    their filters that have none of their own.  Quiet hours are minutes after midnight, and may
    span it; there are none while either is null.  Nothing is shown or sent before the day
    ``holiday_until`` begins.  ``workdays`` are digits of the weekdays on which they work (0 is
    Monday), ``holidays`` days on which they do not, one a line.  ``shortcuts``: single keys act on
    messages.  ``text_senders``: those whose HTML they read as text.  ``left_out``: user names of
    who does not count as agreeing with them.  ``conversations``: lists have a line for each
    conversation, not for each message.  ``claimed_email`` is the last address of their account that
    they wrote themselves, which is to be proven (filters.people.emails).  ``evaluated_seconds`` are
    what their filters that run by themselves took in the hour ``evaluated_hour``, counted from the
    epoch (filters.runs.store.spending).
    """

    time_zone = models.CharField(max_length=64, default="UTC")
    aliases = models.JSONField(default=list, blank=True)
    timeliness = models.CharField(
        max_length=60, default="at once", validators=[validate_usual_timeliness]
    )
    quiet_from = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=[MaxValueValidator(LAST_MINUTE)]
    )
    quiet_to = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=[MaxValueValidator(LAST_MINUTE)]
    )
    holiday_until = models.DateField(null=True, blank=True)
    workdays = models.CharField(max_length=7, default=WEEKDAYS, validators=[validate_workdays])
    holidays = models.TextField(
        max_length=20000, default="", blank=True, validators=[validate_holidays]
    )
    shortcuts = models.BooleanField(default=True)
    text_senders = models.JSONField(default=list, blank=True, editable=False)
    left_out = models.JSONField(default=list, blank=True, editable=False)
    conversations = models.BooleanField(default=True)
    claimed_email = models.EmailField(max_length=254, default="", blank=True, editable=False)
    evaluated_hour = models.IntegerField(default=0, editable=False)
    evaluated_seconds = models.FloatField(default=0, editable=False)

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
