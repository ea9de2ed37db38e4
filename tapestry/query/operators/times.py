"""Times as operators write them: days, ages, and ranges of these."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

from tapestry.core.errors import Span
from tapestry.query.phrases.dates import NUMBERS, read_date
from tapestry.query.phrases.joining import joined
from tapestry.query.phrases.nodes import NO_DATE, Amount, Date, Joined, Phrase, PhraseNode

_AGE = re.compile(
    r"(?P<number>[0-9]+|last|" + "|".join(NUMBERS) + r")?[._ ]*"
    r"(?P<unit>minutes?|hours?|days?|weeks?|months?|years?|[hdwmy])(?:[._ ]ago)?",
    re.IGNORECASE,
)
_LENGTHS = {
    "h": (1, "hour"),
    "d": (1, "day"),
    "w": (1, "week"),
    "m": (30, "day"),
    "y": (365, "day"),
}
_COMPACT = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})(?:000000)?")
_OF_MUTT = re.compile(r"([0-9]{1,2})(?:/([0-9]{1,2})(?:/([0-9]{4}))?)?")
_AROUND = re.compile(r"(([0-9]{1,2})/([0-9]{1,2})/([0-9]{4}))([-+*])([0-9]+)([dwmy])")
_RANGE = re.compile(r"(.*?)\.\.(.*)")
_MINUTE = re.compile(r"t[0-9]{1,2}:[0-9]{2}\Z", re.IGNORECASE)
_SIGN = re.compile(r"([<>]=?|=)(.*)")
_AFTER = {">": "after", ">=": "since", "<": "before", "<=": "until", "=": "on"}


def age_of(kind: str, value: str, span: Span) -> Phrase | None:
    """Return the phrase of an age such as ``3d`` or ``two_weeks``, None if it is none.

    >>> age_of("old", "2w", Span(0, 2)).amount.unit
    'week'
    """
    match = _AGE.fullmatch(value)
    if match is None or (match["number"] is None and len(match["unit"]) == 1):
        return None
    number = (match["number"] or "one").casefold()
    count = Decimal(
        1 if number == "last" else NUMBERS.index(number) if number in NUMBERS else number
    )
    unit = match["unit"].casefold()
    times, name = (1, "minute") if unit.startswith("minute") else _LENGTHS[unit[0]]
    return Phrase(kind, span, amount=Amount(count * times, span, name))


def day_of(text: str, span: Span) -> Date | None:
    """Return the day, month or year that a text is: ``20240131``, ``2024.01.31``, ``monday``."""
    compact = _COMPACT.fullmatch(text)
    written = "-".join(compact.groups()) if compact else text
    return (
        read_date(written, span)
        or read_date(written.replace(".", "-"), span)
        or read_date(written.replace(".", " ").replace("_", " "), span)
    )


def day_or_age(kind: str, age_kind: str, value: str, span: Span) -> Phrase | None:
    """Return the phrase of one kind with a day, or of another with an age."""
    age, day = age_of(age_kind, value, span), day_of(value, span)
    return Phrase(kind, span, date=day) if day and not age else age


def compared_age(value: str, span: Span) -> Phrase | None:
    """Return what ``<2y`` or ``>3d`` says of the age of a message."""
    match = _SIGN.fullmatch(value)
    if match is None or match[1] == "=":
        return None
    return age_of("newer_than" if match[1][0] == "<" else "old", match[2], span)


def compared_day(value: str, span: Span) -> Phrase | None:
    """Return what ``>=2021-01-01`` says of the day of a message."""
    match = _SIGN.fullmatch(value)
    day = day_of(match[2], span) if match else None
    return Phrase(_AFTER[match[1]], span, date=day) if match and day else None


def range_of(value: str, span: Span) -> PhraseNode | None:
    """Return what a day, an age, or a range of them says: ``2024-01..2024-03``, ``..2w``."""
    match = _RANGE.fullmatch(value)
    if match is None:
        return day_or_age("on", "newer_than", value, span)
    low, high = match.groups()
    high = f"{high}:59" if _MINUTE.search(high) else high  # all of the last minute
    if high == "!":
        return day_or_age("on", "newer_than", low, span)
    return _between(
        day_or_age("since", "newer_than", low, span) if low else None,
        day_or_age("until", "old", high, span) if high not in ("", "now") else None,
        wanted=bool(low) + (high not in ("", "now")),
    )


def by_date_header(node: PhraseNode | None) -> PhraseNode | None:
    """Return days of the Date header, as ``sent:`` means them everywhere; ages stay as they are.

    >>> by_date_header(range_of("2024", Span(0, 4))).kind
    'dated_on'
    """
    match node:
        case Joined():
            return replace(node, parts=tuple(filter(None, map(by_date_header, node.parts))))
        case Phrase() if node.date != NO_DATE:
            return replace(node, kind=f"dated_{node.kind}")
    return node


def _between(*bounds: PhraseNode | None, wanted: int) -> PhraseNode | None:
    parts = [bound for bound in bounds if bound is not None]
    return joined("and", parts) if parts and len(parts) == wanted else None


def days_of_mutt(value: str, span: Span) -> PhraseNode | None:
    """Return what mutt says of days: ``1/1/2001-31/12/2001``, ``-20/3/2025``, ``20/3/2025*2w``.

    A day without a year or month, ``~d 1-``, is the latest that has begun.  After a day stands how
    long before it (``-``), after it (``+``) or on both sides (``*``).
    """
    exact = re.fullmatch(r"=([0-9]+)d", value)
    if exact:
        return Phrase("on", span, date=Date(span, word=exact[1]))
    around = _AROUND.fullmatch(value)
    if around:
        return _around(around, span)
    low, dash, high = value.partition("-")
    days = [_day_of_mutt(text, span) for text in (low, high)]
    if not dash:
        return Phrase("on", span, date=days[0]) if days[0] else None
    bounds = (
        Phrase("since", span, date=days[0]) if days[0] else None,
        Phrase("until", span, date=days[1]) if days[1] else None,
    )
    return _between(*bounds, wanted=bool(low) + bool(high))


def _around(found: re.Match[str], span: Span) -> PhraseNode | None:
    length = timedelta(days=int(found[6][:5]) * {"d": 1, "w": 7, "m": 30, "y": 365}[found[7]])
    try:
        day = date(int(found[4]), int(found[3]), int(found[2]))
        first, last = day - length * (found[5] != "+"), day + length * (found[5] != "-")
    except (ValueError, OverflowError):
        return None
    low, high = (Date(span, bound.year, bound.month, bound.day) for bound in (first, last))
    return _between(Phrase("since", span, date=low), Phrase("until", span, date=high), wanted=2)


def _day_of_mutt(text: str, span: Span) -> Date | None:
    match = _OF_MUTT.fullmatch(text)
    if match is None:
        return None
    day, month, year = (int(part or 0) for part in match.groups())
    return Date(span, year, month, day)
