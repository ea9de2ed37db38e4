"""The form field that asks how often new matches are shown and sent.

It is a choice with a number, a day and a time beside it, of which the page shows those that the
choice needs.  Its value is the text of a timeliness, which may also be sent as such.
"""

from __future__ import annotations

from typing import Any

from django import forms

from filters.people.models import validate_timeliness, validate_usual_timeliness
from tapestry.core.errors import TapestryError
from tapestry.deliver.timing.timeliness import DAYS, parse_timeliness

USUAL, AT_ONCE, EVERY, HOURLY, DAILY, WEEKLY = "", "at once", "every", "hourly", "daily", "weekly"
AFTER = "after"

_CHOICES = [
    (AT_ONCE, "at once"),
    (EVERY, "every … minutes"),
    (HOURLY, "hourly"),
    (DAILY, "daily at …"),
    (WEEKLY, "weekly on …"),
]
_WEEKDAYS = [(day, day.capitalize()) for day in DAYS]

MINUTES, WEEKDAY, TIME, WORKDAYS = "30", "monday", "08:00", "3"
"""What stands beside the choice before anything is written there."""


class TimelinessWidget(forms.MultiWidget):
    """A choice, and beside it minutes, a day of the week, a time of day and working days."""

    def __init__(self) -> None:
        minutes = {"min": 1, "max": 99999, "aria-label": "Minutes"}
        days = {"min": 1, "max": 99, "aria-label": "Working days"}
        super().__init__(
            {
                "how": forms.Select({"aria-label": "How often"}, _CHOICES),
                "minutes": forms.NumberInput(minutes),
                "weekday": forms.Select({"aria-label": "Day of the week"}, _WEEKDAYS),
                "time": forms.TimeInput({"type": "time", "aria-label": "Time"}, "%H:%M"),
                "days": forms.NumberInput(days),
            }
        )

    def offer_usual(self, usual: str) -> None:
        """Offer what is usual for the person as well, the empty text, and working days."""
        choice: Any = self.widgets[0]
        choice.choices = [
            (USUAL, f"as usual ({usual})"),
            *_CHOICES,
            (AFTER, "after … working days"),
        ]

    def decompress(self, value: Any) -> list[str]:
        """Return the choice and what stands beside it that a text stands for.

        >>> TimelinessWidget().decompress("weekly on Friday at 9:30")
        ['weekly', '30', 'friday', '09:30', '3']
        """
        try:
            words = str(parse_timeliness(value)).lower().split() if value else [USUAL]
        except TapestryError:
            words = [value]
        parts = {"how": words[0], "minutes": MINUTES, "weekday": WEEKDAY, "time": TIME}
        parts["days"] = WORKDAYS
        if words[0] == "at":
            parts["how"] = AT_ONCE
        elif words[0] == EVERY:
            parts["minutes"] = words[1]
        elif words[0] == AFTER:
            parts["days"] = words[1]
        elif words[0] == WEEKLY:
            parts |= {"weekday": words[2], "time": words[-1]}
        elif words[0] == DAILY:
            parts["time"] = words[-1]
        return list(parts.values())

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[str]:
        """Return the parts that were sent, or those of the text that was."""
        if name in data:
            return self.decompress(data[name])
        sent: list[str | None] = super().value_from_datadict(data, files, name)
        return [part or "" for part in sent]


class TimelinessField(forms.Field):
    """A field whose value is the text of a timeliness, or empty where that may be the usual."""

    widget = TimelinessWidget

    def __init__(self, *, is_of_filter: bool = False, **named: Any) -> None:
        self._validate = validate_timeliness if is_of_filter else validate_usual_timeliness
        super().__init__(template_name="people/_timeliness.html", **named)

    def clean(self, value: Any) -> str:
        """Return the text in its canonical form; raise ValidationError where it says no time."""
        how, minutes, weekday, time, days = (str(part).strip() for part in value)
        texts: dict[str, str] = {
            EVERY: f"every {minutes} minutes",
            AFTER: f"after {days} working days",
            DAILY: f"daily at {time}",
            WEEKLY: f"weekly on {weekday} at {time}",
        }
        text = texts.get(how, how)
        if text == USUAL:
            return text
        self._validate(text)
        return str(parse_timeliness(text))
