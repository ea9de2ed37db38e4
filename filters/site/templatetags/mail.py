"""How mail is shown: ages, initials and colours of people, addresses of pages."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from hashlib import sha256
from urllib.parse import urlencode
from zlib import crc32

from django import template
from django.urls import reverse
from django.utils import timezone

from tapestry.core.clock import DAY, HOUR, MINUTE, to_datetime, wall_clock
from tapestry.deliver.timing.schedule import HELD
from tapestry.identity.content import message_id_of

register = template.Library()

HUES = 8
DEEPEST = 6


@register.filter
def moment(instant: int | None) -> datetime | None:
    """Return an instant as a datetime in the reader's time zone; None if it is out of range."""
    if instant is None:
        return None
    try:
        return timezone.localtime(to_datetime(instant))
    except (OverflowError, ValueError):
        return None


@register.filter
def row_id(msgid: str, audience: str) -> str:
    """Return what tells the line of a copy of a message from others in a list.

    It is not the key of its card: the difference of two keys tells how much mail others found.

    >>> row_id("1@x.org", "public") == row_id("1@x.org", "user:terry")
    False
    """
    return sha256(f"{audience} {msgid}".encode(errors="surrogatepass")).hexdigest()[:16]


@register.filter
def age(instant: int | None) -> str:
    """Say shortly how long ago an instant is, as the reader's calendar has it.

    >>> age(wall_clock() - 3 * HOUR)
    '3 h'
    """
    then = moment(instant)
    if then is None or instant is None:
        return ""
    passed = wall_clock() - instant
    if passed < -MINUTE:
        return f"{then:%Y-%m-%d}"
    if passed < MINUTE:
        return "now"
    for limit, unit, word in ((HOUR, MINUTE, "min"), (DAY, HOUR, "h"), (7 * DAY, DAY, "d")):
        if passed < limit:
            return f"{passed // unit} {word}"
    if then.year == timezone.localtime().year:
        return f"{then.day} {then:%b}"
    return f"{then.day} {then:%b %Y}"


@register.filter
def ago(instant: int | None) -> str:
    """Say in a sentence when an instant was.

    >>> ago(wall_clock() - 3 * HOUR), ago(wall_clock())
    ('3 h ago', 'just now')
    """
    then = age(instant)
    if then == "now":
        return "just now"
    return f"{then} ago" if then.endswith((" min", " h", " d")) else f"on {then}"


@register.filter
def day_words(day: date) -> str:
    """Name a day of the reader's calendar.

    >>> day_words(timezone.localdate()), day_words(date(2001, 9, 9))
    ('today', 'on Sunday 9 September 2001')
    """
    today = timezone.localdate()
    if day == today:
        return "today"
    if abs(day - today) == timedelta(days=1):
        return "yesterday" if day < today else "tomorrow"
    year = "" if day.year == today.year else f" {day.year}"
    return f"on {day:%A} {day.day} {day:%B}{year}"


@register.filter
def time_words(instant: int | None) -> str:
    """Name a time soon to come, with its day unless that is today."""
    then = moment(instant)
    if then is None:
        return ""
    day = day_words(then.date())
    return f"{then:%H:%M}" if day == "today" else f"{then:%H:%M} {day}"


@register.filter
def until_words(instant: int | None) -> str:
    """Say until when something waits.

    >>> until_words(HELD)
    'until you have read what is here'
    """
    if instant == HELD:
        return "until you have read what is here"
    return f"until {time_words(instant)}"


@register.filter
def initial(who: str) -> str:
    """Return the letter that stands for a person.

    >>> initial('"Mary Jones"')
    'M'
    """
    return next((letter.upper() for letter in who if letter.isalnum()), "?")


@register.filter
def hue(who: str) -> int:
    return crc32(who.lower().encode()) % HUES


@register.filter
def depth(steps: int) -> int:
    """Return how far a message of a thread is set in; deep ones all alike."""
    return min(steps, DEEPEST)


@register.filter
def message_id(msgid: str) -> str:
    """Return the Message-ID of a message, by its key."""
    return message_id_of(msgid)


@register.simple_tag
def open_address(here: str, msgid: str, audience: str, page: int = 1) -> str:
    """Return the address of a list with a copy of a message open beside it."""
    query = {"open": msgid, "in": audience}
    return f"{here}?{urlencode(query if page == 1 else {'page': str(page)} | query)}"


@register.simple_tag
def message_address(msgid: str, audience: str | None = None, page: str = "message") -> str:
    """Return the address of a message's page, or other ``page``; of an audience's copy of it."""
    query = {"id": msgid} | ({} if audience is None else {"in": audience})
    return f"{reverse(page)}?{urlencode(query)}"
