"""Spans of the calendar, such as “last week”, as the days that they are now: for a search.

A filter that is kept would mean another time whenever it is asked; a search is asked once.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date, timedelta
from difflib import get_close_matches

from tapestry.core.clock import to_datetime
from tapestry.core.errors import Span, TapestryError
from tapestry.query.context import Context
from tapestry.query.phrases.dates import MONTHS
from tapestry.query.phrases.help.bare_words import MOST_WORDS, words_with_phrases
from tapestry.query.phrases.parser import parse_phrase
from tapestry.query.phrases.spellings import EARLIER, EARLIER_PATTERN, END, no_span
from tapestry.query.phrases.wordings.rewording import reworded
from tapestry.query.tree.parsed import MisreadError

_COUNTED = "".join(rf"(?<!\b{word}\s)" for word in ("votes", "score", "replies", "answers"))
_SPANS = EARLIER_PATTERN.replace("this\\s+month", f"{_COUNTED}this\\s+month")
"""“The most votes this month” is a phrase, and so is “the last month”."""

_SPAN = re.compile(
    rf"(?<!\bthe\s)(?<!:)\b(?:(?:from|in|during)\s+)?({_SPANS})"
    rf"(?:['’]?s(?=\s)|{END}|(?=[?!.]+\s*\Z))",
    re.IGNORECASE,
)
_VALUE = rf"{EARLIER_PATTERN.replace(chr(92) + 's+', '[_ ]?')}|this[_ ]?week|today"
_OPERATOR = re.compile(
    rf"(?<![^\s(])(-?(?:date|received|sent|d|dt|rt):)(\"?)({_VALUE})?(?:(\.\.)({_VALUE})?)?\2(?![^\s)])",
    re.IGNORECASE,
)
"""A span as the value of an operator: ``date:last_week``, ``received:yesterday``."""

_JOINING = "of|in|on|at|for|to|from|by|and|or|with|is|was|the|a|i|my|it|not|no"
_ITS = re.compile(rf"\A\s*({_SPANS})['’]s\s+(\S+\s+(?:from|by|to|about)\s.+)", re.IGNORECASE)
"""A span before what came in it: “last month’s invoices from joe”."""

_BEFORE_WORDS = re.compile(
    rf"\A\s*({_SPANS})\s+((?!(?:{_JOINING})\b)[\w-]+(?:\s+[\w@.-]+){{0,4}})\s*\Z", re.IGNORECASE
)
"""A span before words: “last week budget alice”."""

_AFTER_WORDS = re.compile(r"\s*\S+(?:\s+\S+)?\s+\Z")
"""A word or two: more of them before a span may be a subject, “ANSI COBOL meeting this month”."""

_NEARLY = re.compile(r"\by[a-z]{6,10}\b", re.IGNORECASE)
_SURE, _ALMOST = 0.85, 0.8
_MOVING = re.compile(r"(?<=\b(?:last|this)\s)[a-z]{4,7}\b", re.IGNORECASE)
_MONTH = 31
_UNITS = ("week", "month", "year")
_QUOTED = re.compile(r'("[^"]*"|“[^”]*”)')


def dated(text: str, context: Context, *, has_operators: bool = False) -> str | None:
    """Return a text with its spans as days, None if it has none or the time is not known.

    Beside operators they are written as operators.

    >>> from datetime import UTC, datetime
    >>> from tapestry.core.clock import to_instant
    >>> context = Context(now=to_instant(datetime(2026, 3, 18, tzinfo=UTC)))
    >>> dated("invoices from last month", context), dated("from mary last week", context)
    ('invoices in February 2026', 'from mary between 9 March 2026 and 15 March 2026')
    """
    if context.now is None:
        return None
    today = to_datetime(context.now).astimezone(context.zone).date()
    text = with_span_last(text)
    written_as = _range if has_operators else _days
    written = _OPERATOR.sub(lambda found: _as_operator(found, today), text)
    pieces = [
        piece if place % 2 else _SPAN.sub(lambda found: written_as(found[1], today), _spelt(piece))
        for place, piece in enumerate(_QUOTED.split(written))
    ]
    result = "".join(pieces)
    return None if result == text else result


def with_span_last(text: str) -> str:
    """Return a text with its span behind what came in it.

    >>> with_span_last("last month's invoices from joe")
    'invoices from joe last month'
    >>> with_span_last("last week budget alice"), with_span_last("last week of term")
    ('budget alice last week', 'last week of term')
    """
    return _BEFORE_WORDS.sub(r"\2 \1", _ITS.sub(r"\2 \1", text))


def _as_operator(found: re.Match[str], today: date) -> str:
    """Return the days of a span, or from one to another, as operators write them."""
    first, last = (_bounds(value, today) if value else None for value in found.group(3, 5))
    if (first is None and last is None) or (found[4] is None and _letters(found[3]) == "today"):
        return found[0]
    until = last if found[4] else first
    bounds = dict.fromkeys((first[0] if first else "", until[1] if until else ""))
    return f"{found[1]}{'..'.join(map(str, bounds))}"


def _letters(text: str) -> str:
    return re.sub(r"[\s_]", "", text).casefold()


def _spelt(text: str) -> str:
    """Return a text with “yesterday”, and the unit of “last month”, spelt right."""
    text = _NEARLY.sub(
        lambda word: next(iter(get_close_matches(word[0], ["yesterday"], 1, _SURE)), word[0]), text
    )
    return _MOVING.sub(
        lambda word: next(iter(get_close_matches(word[0], _UNITS, 1, _ALMOST)), word[0]), text
    )


def check_no_span(text: str) -> None:
    """Raise TapestryError if words end in a span, such as “invoices last month”.

    >>> check_no_span("invoices of the last month"), check_no_span("lunch with joe last week")
    (None, None)
    """
    text = text.rstrip(" ?!.")
    for found in _SPAN.finditer(text):
        before = text[: found.start()]
        is_mixed = (
            _AFTER_WORDS.fullmatch(before) or words_with_phrases(before) or _is_request(before)
        )
        if found.end() == len(text) and is_mixed:
            message, hint = no_span(found[1])
            place = Span(0, found.end())
            instead = words_with_phrases(lasting(text, place)[0], MOST_WORDS)
            raise TapestryError(message, place, f"Write “{instead}”." if instead else hint)


def _is_request(text: str) -> bool:
    """Tell whether a text is a phrase in other words, “between me and joe”."""
    request = reworded(text)
    with suppress(MisreadError):
        return request is not None and parse_phrase(request) is not None
    return False


def lasting(text: str, span: Span) -> list[str]:
    """Return a text with ages in place of the span at a place; none if there is no such span.

    >>> lasting("from mary last week", Span(10, 19))
    ['from mary between one and two weeks old', 'from mary newer than two weeks']
    """
    end = len(text) - span.end
    text = f"{text[: span.start]}{_spelt(text[span.start : span.end])}{text[span.end :]}"
    found = _SPAN.search(text, span.start, len(text) - end)
    if found is None:
        return []
    ages = EARLIER[" ".join(found[1].casefold().split())]
    return [f"{text[: found.start()]}{age}{text[found.end() :]}" for age in ages]


def _bounds(span: str, today: date) -> tuple[date, date]:
    """Return the first and the last day of a span, written with or without its blanks."""
    monday = today - timedelta(days=today.weekday())
    january, this_month = date(today.year, 1, 1), today.replace(day=1)
    match _letters(span):
        case "today":
            return today, today
        case "thedaybeforeyesterday":
            return today - timedelta(days=2), today - timedelta(days=2)
        case "yesterday":
            return today - timedelta(days=1), today - timedelta(days=1)
        case "thisweek":
            return monday, today
        case "lastweekend":
            return monday - timedelta(days=2), monday - timedelta(days=1)
        case "lastweek":
            return monday - timedelta(days=7), monday - timedelta(days=1)
        case "thismonth":
            return this_month, _end_of_month(this_month)
        case "lastmonth":
            end = this_month - timedelta(days=1)
            return end.replace(day=1), end
        case "thisyear":
            return january, date(today.year, 12, 31)
        case _:
            return date(today.year - 1, 1, 1), january - timedelta(days=1)


def _end_of_month(day: date) -> date:
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)


def _range(span: str, today: date) -> str:
    first, last = _bounds(span, today)
    return f"date:{first}..{last}"


def _days(span: str, today: date) -> str:
    first, last = _bounds(span, today)
    if first == last:
        return f"on {_day(first)}"
    if (last - first).days > _MONTH:
        return f"in {first.year}"
    if first.day == 1 and last == _end_of_month(first):
        return f"in {_month(first)}"
    return f"between {_day(first)} and {_day(last)}"


def _day(day: date) -> str:
    return f"{day.day} {_month(day)}"


def _month(day: date) -> str:
    return f"{MONTHS[day.month - 1]} {day.year}"
