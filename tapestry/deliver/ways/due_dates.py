"""Due dates as an iCalendar document (RFC 5545), for calendars that subscribe to its address."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tapestry.core.clock import to_datetime

CONTENT_TYPE = "text/calendar; charset=utf-8"

LONGEST_LINE = 75
"""Octets of a line, without its end (section 3.1)."""

_ESCAPED = re.compile(r"([\\;,])")
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]+")


@dataclass(frozen=True, slots=True)
class DueDate:
    """Something due at an instant; ``uid`` stays the same, ``stamp`` is when it was made."""

    uid: str
    at: int
    stamp: int
    summary: str
    url: str


def due_dates(name: str, dates: Iterable[DueDate]) -> bytes:
    """Return a calendar with an event for each due date, in UTF-8."""
    lines = [
        *("BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Tapestry//Due dates//EN"),
        f"X-WR-CALNAME:{_text(name)}",
        "REFRESH-INTERVAL;VALUE=DURATION:PT1H",
        *(line for date in dates for line in _event(date)),
        "END:VCALENDAR",
    ]
    return b"".join(_folded(line) for line in lines)


def _event(date: DueDate) -> Iterator[str]:
    yield "BEGIN:VEVENT"
    yield f"UID:{_text(date.uid)}"
    yield f"DTSTAMP:{_utc(date.stamp)}"
    yield f"DTSTART:{_utc(date.at)}"
    yield f"SUMMARY:{_text(date.summary)}"
    yield f"URL:{_FORBIDDEN.sub('', date.url)}"
    yield "TRANSP:TRANSPARENT"
    yield "END:VEVENT"


def _utc(instant: int) -> str:
    return f"{to_datetime(instant):%Y%m%dT%H%M%SZ}"


def _text(text: str) -> str:
    """Return a text as a value: in one line, with its special characters escaped (3.3.11)."""
    return _ESCAPED.sub(r"\\\1", _FORBIDDEN.sub(" ", text).strip())


def _folded(line: str) -> bytes:
    """Return a line with its end, folded between characters where it is too long."""
    parts, room = [bytearray()], LONGEST_LINE
    for character in line:
        octets = character.encode()
        if len(parts[-1]) + len(octets) > room:
            parts.append(bytearray())
            room = LONGEST_LINE - 1  # after the blank that continues the line
        parts[-1] += octets
    return b"\r\n ".join(parts) + b"\r\n"
