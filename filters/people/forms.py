"""The form of a person: other addresses, time zone, and when new matches are shown and sent."""

from __future__ import annotations

import zoneinfo
from datetime import date, time
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone

from filters.people.models import User, validate_holidays
from filters.people.timeliness_field import TimelinessField
from tapestry.deliver.timing.timeliness import DAYS

LAST_YEAR = 9000
"""Later years are taken for typing errors; and the day after one of them is still a date."""


def _time_field(label: str) -> forms.TimeField:
    return forms.TimeField(
        label=label,
        required=False,
        widget=forms.TimeInput({"type": "time"}, "%H:%M"),
        error_messages={"invalid": "Write the time as 22:00, or leave it empty."},
    )


def _zones() -> list[tuple[str, str]]:
    names = sorted(zoneinfo.available_timezones())
    return [(name, name.replace("_", " ")) for name in names if "/" in name or name == "UTC"]


class ProfileForm(forms.Form):
    """What a person says of themselves."""

    aliases = forms.CharField(
        label="Your other addresses",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One on each line. In a filter, “me” is any of them.",
    )
    time_zone = forms.ChoiceField(label="Time zone", choices=_zones)
    timeliness = TimelinessField(
        label="Show and send new matches",
        required=False,
        initial="at once",
        help_text="Your usual choice. Each filter can have its own.",
    )
    quiet_from = _time_field("from")
    quiet_to = _time_field("until")
    holiday_until = forms.DateField(
        label="On holiday until",
        required=False,
        widget=forms.DateInput({"type": "date"}, "%Y-%m-%d"),
        help_text="The day you are back. Until then nothing is shown or sent.",
        error_messages={"invalid": "Write the day as 2027-01-31, or leave it empty."},
    )
    workdays = forms.MultipleChoiceField(
        label="You work on",
        choices=[(str(number), day.capitalize()) for number, day in enumerate(DAYS)],
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text="For filters that show what they find after some working days. "
        "With none ticked, Monday to Friday.",
    )
    holidays = forms.CharField(
        label="Holidays",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Days on which you do not work, one on each line, as 2027-01-31.",
        validators=[validate_holidays],
    )
    shortcuts = forms.BooleanField(
        label="Single keys act on messages",
        required=False,
        help_text="The key ? shows them.",
    )

    @staticmethod
    def initial_of(user: User) -> dict[str, Any]:
        """Return what the form shows of an account; a holiday that is over is not shown."""
        until = user.holiday_until
        return {
            "aliases": "\n".join(user.aliases),
            "time_zone": user.time_zone,
            "timeliness": user.timeliness,
            "quiet_from": _time_of(user.quiet_from),
            "quiet_to": _time_of(user.quiet_to),
            "holiday_until": until if until and until > timezone.localdate() else None,
            "workdays": list(user.workdays),
            "holidays": user.holidays,
            "shortcuts": user.shortcuts,
        }

    def clean_aliases(self) -> list[str]:
        lines = [line.strip().lower() for line in self.cleaned_data["aliases"].splitlines()]
        for line in lines:
            if line and "@" not in line:
                raise ValidationError(f"{line} is not an address.")
        return [line for line in lines if line]

    def clean_timeliness(self) -> str:
        return self.cleaned_data["timeliness"] or User().timeliness

    def clean_holiday_until(self) -> date | None:
        until: date | None = self.cleaned_data["holiday_until"]
        if until is not None and until.year > LAST_YEAR:
            raise ValidationError(f"Choose a day before {LAST_YEAR + 1}, or none.")
        if until is not None and until <= timezone.localdate():
            raise ValidationError("Choose a day in the future, or none.")
        return until

    def clean_workdays(self) -> str:
        return "".join(sorted(self.cleaned_data["workdays"])) or User().workdays

    def clean_holidays(self) -> str:
        lines = {line.strip() for line in self.cleaned_data["holidays"].splitlines()}
        return "\n".join(sorted(lines - {""}))

    def clean(self) -> None:
        """Refuse quiet hours that have no beginning, no end, or no length."""
        begin, end = self.cleaned_data.get("quiet_from"), self.cleaned_data.get("quiet_to")
        if self.errors.keys() & {"quiet_from", "quiet_to"}:
            return
        if (begin is None) != (end is None):
            missing = "quiet_from" if begin is None else "quiet_to"
            self.add_error(missing, "Write both times, or leave both empty.")
        elif begin is not None and begin == end:
            self.add_error("quiet_to", "Choose a time other than the beginning.")

    def store(self, user: User) -> None:
        """Store what a person says; what waits in their filters is planned anew with it."""
        given = self.cleaned_data
        given |= {name: _minute_of(given[name]) for name in ("quiet_from", "quiet_to")}
        for name in self.fields:
            setattr(user, name, given[name])
        with user.saving(self.fields) as save:  # another page stores their address
            save()


def _time_of(minute: int | None) -> time | None:
    return None if minute is None else time(minute // 60, minute % 60)


def _minute_of(moment: time | None) -> int | None:
    return None if moment is None else moment.hour * 60 + moment.minute
