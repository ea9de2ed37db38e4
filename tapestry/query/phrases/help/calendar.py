"""Spans of the calendar, such as “last week”, as the days that they are now: for a search.

A filter that is kept would mean another time whenever it is asked; a search is asked once.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from tapestry.core.clock import to_datetime
from tapestry.query.context import Context
from tapestry.query.phrases.dates import MONTHS
from tapestry.query.phrases.spellings import EARLIER_PATTERN, END

_SPAN = re.compile(rf"\b(?:(?:from|in|during)\s+)?({EARLIER_PATTERN}){END}", re.IGNORECASE)
_QUOTED = re.compile(r'("[^"]*"|“[^”]*”)')


def dated(text: str, context: Context) -> str | None:
    """Return a text with its spans as days, None if it has none or the time is not known.

    >>> from datetime import UTC, datetime
    >>> from tapestry.core.clock import to_instant
    >>> context = Context(now=to_instant(datetime(2026, 3, 18, tzinfo=UTC)))
    >>> dated("invoices from last month", context), dated("from mary last week", context)
    ('invoices in February 2026', 'from mary between 9 March 2026 and 15 March 2026')
    """
    if context.now is None:
        return None
    today = to_datetime(context.now).astimezone(context.zone).date()
    pieces = [
        piece if place % 2 else _SPAN.sub(lambda found: _days(found[1], today), piece)
        for place, piece in enumerate(_QUOTED.split(text))
    ]
    result = "".join(pieces)
    return None if result == text else result


def _days(span: str, today: date) -> str:
    monday = today - timedelta(days=today.weekday())
    match " ".join(span.casefold().split()):
        case "yesterday":
            return f"on {_day(today - timedelta(days=1))}"
        case "last week":
            return (
                f"between {_day(monday - timedelta(days=7))} and {_day(monday - timedelta(days=1))}"
            )
        case "this month":
            return f"in {_month(today)}"
        case "last month":
            return f"in {_month(today.replace(day=1) - timedelta(days=1))}"
        case "this year":
            return f"in {today.year}"
        case _:
            return f"in {today.year - 1}"


def _day(day: date) -> str:
    return f"{day.day} {_month(day)}"


def _month(day: date) -> str:
    return f"{MONTHS[day.month - 1]} {day.year}"
