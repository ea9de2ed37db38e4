"""Dates in phrases: how they are written, which days they are, and their first instants."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache

from tapestry.core.clock import to_datetime, to_instant
from tapestry.core.errors import Span, TapestryError
from tapestry.query.context import Context
from tapestry.query.phrases.nodes import Date, Joined, Negated, Phrase, PhraseNode, Refused

_NUMBERS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty
"""
NUMBERS = tuple(_NUMBERS.split())

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
WORDS = {"today": 0, "yesterday": 1, "the day before yesterday": 2}
"""Days by how many days they are ago."""

UNITS = "(?:week|day|hour|minute|second|month|quarter|year)s?"
_NO_AGE = rf"(?!\s+{UNITS}\b)"
"""In “since March 3 weeks old”, an age begins after the month."""

_YEAR = rf"(?P<year>[12][0-9]{{3}}){_NO_AGE}"
_DAY = rf"(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?{_NO_AGE}"
_MONTH = rf"(?P<month>{'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in MONTHS)}|sept)\.?"
_LOW, _LATE = "0?[1-9]|1[0-2]", "1[3-9]|2[0-9]|3[01]"
"""A number that may be a month, and one that is a day: 3/10/2024 may be in March or in October."""

_WEEKDAY = rf"(?:last\s+)?(?P<weekday>{'|'.join(WEEKDAYS)})"
_FORMS = (
    rf"{_YEAR}[-/](?P<month>[0-9]{{1,2}})[-/](?P<day>[0-9]{{1,2}})",
    rf"(?P<day>[0-9]{{1,2}})\.(?P<month>[0-9]{{1,2}})\.{_YEAR}",
    rf"(?P<day>{_LATE})/(?P<month>{_LOW})/{_YEAR}",
    rf"(?P<month>{_LOW})/(?P<day>{_LATE})/{_YEAR}",
    rf"(?P<both>{'|'.join(f'0?{number}/0?{number}' for number in range(1, 13))})/{_YEAR}",
    rf"(?:the\s+)?{_DAY}\s+(?:of\s+)?{_MONTH}(?:\s*,?\s*{_YEAR})?",
    rf"{_MONTH}\s+{_DAY}(?:\s*,?\s*{_YEAR})?",
    _WEEKDAY,
    rf"(?P<word>{'|'.join(WORDS)})",
    rf"(?P<ago>[0-9]+|an?|{'|'.join(NUMBERS)})\s+(?P<unit>days?|weeks?)\s+ago",
)
_CLOCK = (
    r"(?P<hour>[0-9]{1,2})(?::(?P<minute>[0-5][0-9])(?::(?P<second>[0-5][0-9])(?:\.0+)?)?"
    r"(?:\s*(?P<half>[ap])\.?m\.?)?|\s*(?P<half_of_hour>[ap])\.?m\.?)(?:\s*(?P<utc>z|utc))?"
)
"""A time of day: “9:30”, “9 pm”, “21:40:05 UTC”."""

_BEFORE = rf"{_CLOCK}\s+(?:on\s+)?"
_HOUR = rf"\s*,?\s+at\s+(?P<hour_alone>[0-9]{{1,2}}){_NO_AGE}"
_AT = rf"(?:(?:\s*,?\s+(?:at\s+)?|t){_CLOCK}|{_HOUR})?"
_PERIODS = (rf"{_YEAR}[-/](?P<month>[0-9]{{1,2}})", rf"{_MONTH}(?:\s+{_YEAR})?", _YEAR)
_GROUPS = re.compile(r"\?P<\w+>")

DAY_PATTERN, PERIOD_PATTERN = (
    before + "(?:" + "|".join(_GROUPS.sub("?:", form) for form in forms) + ")" + after
    for before, forms, after in (
        (f"(?:{_GROUPS.sub('?:', _BEFORE)})?", _FORMS, _GROUPS.sub("?:", _AT)),
        ("", _PERIODS, ""),
    )
)
"""Regular expressions for a day, and for a month or a year."""


@cache
def _readers() -> list[re.Pattern[str]]:
    """Return the expressions of dates, compiled when the first one is read."""
    forms = [*[form + _AT for form in _FORMS], *[_BEFORE + form for form in _FORMS], *_PERIODS]
    return [re.compile(form, re.IGNORECASE) for form in forms]


def read_date(text: str, span: Span) -> Date | None:
    """Return the date that a text is, if it is one.

    >>> read_date("March 3rd, 2025", Span(0, 15))
    Date(span=Span(start=0, end=15), year=2025, month=3, day=3, weekday=None, word='', clock='')
    >>> read_date("2025-03-03T9:05Z", Span(0, 0)).clock, read_date("monday 9 pm", Span(0, 0)).clock
    ('9:05 UTC', '21:00')
    """
    match = next((match for reader in _readers() if (match := reader.fullmatch(text))), None)
    if match is None:
        return None
    parts = {name: value for name, value in match.groupdict().items() if value}
    both = parts.get("both", "0").partition("/")[0]
    month, weekday = parts.get("month", both), parts.get("weekday", "")
    return Date(
        span,
        int(parts.get("year", "0")),
        int(month) if month.isdigit() else _place(month, MONTHS) + 1,
        int(parts.get("day", both)),
        _place(weekday, WEEKDAYS) if weekday else None,
        _word(parts),
        _clock(parts),
    )


def _clock(parts: dict[str, str]) -> str:
    """Return a time of day as it is shown."""
    written = parts.get("hour") or parts.get("hour_alone")
    if not written:
        return ""
    hour, half = int(written), parts.get("half") or parts.get("half_of_hour")
    if half:
        hour = hour % 12 + (12 if half in "pP" else 0)
    second = f":{parts['second']}" if parts.get("second", "00") != "00" else ""
    utc = " UTC" if "utc" in parts else ""
    return f"{hour}:{parts.get('minute', '00')}{second}{utc}"


def _word(parts: dict[str, str]) -> str:
    """Return the word of a day, or how many days it is ago."""
    if "ago" not in parts:
        return parts.get("word", "").casefold()
    number = parts["ago"].casefold()
    count = (
        1 if number in ("a", "an") else int(NUMBERS.index(number) if number in NUMBERS else number)
    )
    return str(count * (7 if parts["unit"].casefold().startswith("week") else 1))


def _place(name: str, names: tuple[str, ...]) -> int:
    beginning = name[:3].title()
    return next(place for place, full in enumerate(names) if full.startswith(beginning))


def print_date(written: Date) -> str:
    """Return a settled date in words.

    >>> print_date(Date(Span(0, 0), 2025, 3, 3)), print_date(Date(Span(0, 0), 2025, 3))
    ('3 March 2025', 'March 2025')
    """
    month = MONTHS[written.month - 1] if written.month else ""
    clock = written.clock and f"at {written.clock}"
    return " ".join(filter(None, (str(written.day or ""), month, f"{written.year:04}", clock)))


# Which day it is


def is_settled(node: PhraseNode) -> bool:
    """Return whether a phrase means the same whenever it is read."""
    match node:
        case Joined():
            return all(map(is_settled, node.parts))
        case Negated():
            return is_settled(node.part)
        case Phrase():
            day = node.date
            is_given = day.day or day.month or day.word or day.weekday is not None
            return day.is_settled or not is_given
        case Refused():
            return True


def settled(node: PhraseNode, context: Context) -> PhraseNode:
    """Return a phrase in which each weekday, and each date without a year, is a fixed date.

    It is the latest such day that has begun where the person of ``context`` is.  Raises
    TapestryError if the context does not know the time.
    """
    match node:
        case Joined():
            parts = [settled(part, context) for part in node.parts]
            for place in range(1, len(parts)):
                parts[place] = _after(parts[place - 1], parts[place], node.parts[place])
            return replace(node, parts=tuple(parts))
        case Negated():
            return replace(node, part=settled(node.part, context))
        case Phrase() if not is_settled(node):
            return replace(node, date=_settled(node.date, context))
        case _:
            return node


def _after(before: PhraseNode, node: PhraseNode, written: PhraseNode) -> PhraseNode:
    """Return the end of “between 1 and 20 March” after its beginning, though it is to come."""
    if not isinstance(before, Phrase) or not isinstance(node, Phrase) or is_settled(written):
        return node
    is_end = before.kind.endswith("since") and node.kind.endswith("until")
    first, last = before.date, node.date
    if not is_end or before.span != node.span or (last.month, last.day) < (first.month, first.day):
        return node
    return replace(node, date=replace(last, year=max(first.year, last.year)))


def _settled(written: Date, context: Context) -> Date:
    if context.now is None:
        message = "This date depends on the day it is read."
        raise TapestryError(message, written.span, "Write a date such as 3 March 2025.")
    today = to_datetime(context.now).astimezone(context.zone).date()
    if written.word:
        days = WORDS.get(written.word)
        return _on(today - timedelta(days=int(written.word) if days is None else days), written)
    if written.weekday is not None:
        return _on(today - timedelta(days=(today.weekday() - written.weekday) % 7), written)
    if written.month:
        possible = [replace(written, year=today.year - ago) for ago in range(8)]
    else:
        months = [divmod(today.year * 12 + today.month - 1 - ago, 12) for ago in range(3)]
        possible = [replace(written, year=year, month=month + 1) for year, month in months]
    first = next((day for day in possible if _exists(day) and _first_day(day) <= today), None)
    return first or possible[0]


def _on(day: date, written: Date) -> Date:
    return Date(written.span, day.year, day.month, day.day, clock=written.clock)


def _exists(written: Date) -> bool:
    try:
        _first_day(written)
    except ValueError:
        return False
    return True


def _first_day(written: Date) -> date:
    return date(written.year, written.month or 1, written.day or 1)


def following(written: Date) -> Date:
    """Return the day, month or year after a date; raises TapestryError if there is no such date.

    >>> print_date(following(Date(Span(0, 0), 2024, 12)))
    'January 2025'
    """
    first = _checked_day(written)
    if written.day:
        return _on(first + timedelta(days=1), written)
    if written.month in (0, 12):
        return replace(written, year=written.year + 1, month=written.month and 1)
    return replace(written, month=written.month + 1)


def beginning(written: Date, context: Context) -> int:
    """Return the first instant of a settled date, or its time, for the person of ``context``."""
    zone = UTC if written.clock.endswith("UTC") else context.zone
    first = datetime.combine(_checked_day(written), _time(written), zone)
    return to_instant(first.astimezone(UTC))


def _time(written: Date) -> time:
    """Return the time of day of a date; raises TapestryError if no day has it."""
    numbers = [int(number) for number in re.findall("[0-9]+", written.clock)]
    hour, minute, second = [*numbers, 0, 0, 0][:3]
    if hour > 23:
        hint = "Write a time such as 21:40."
        raise TapestryError("No day has so many hours.", written.span, hint)
    return time(hour, minute, second)


def _checked_day(written: Date) -> date:
    try:
        return _first_day(written)
    except ValueError:
        right = "3 March 2025"
        if 1 <= written.month <= 12:
            _, last = monthrange(written.year, written.month)
            right = print_date(replace(written, day=last))
        raise TapestryError("There is no such day.", written.span, f"Write “{right}”.") from None
