"""What pages say of reminders that are repeated."""

from __future__ import annotations

from django import template

from filters.authoring.models import Reminder
from filters.authoring.reminders import EVERY
from filters.people.models import User

register = template.Library()


@register.simple_tag
def repetitions() -> list[tuple[int, str]]:
    """Return in how many days a reminder may be repeated, each with its words."""
    return list(EVERY.items())


@register.simple_tag
def repetition(user: User, msgid: str) -> Reminder | None:
    """Return how a person is reminded of a message again and again, if at all."""
    return Reminder.objects.filter(owner=user, msgid=msgid, every__gt=0).first()


@register.filter
def every_words(days: int) -> str:
    return EVERY.get(days, f"every {days} days")
