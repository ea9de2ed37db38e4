"""Dates and delays as HTTP writes them in header fields (RFC 9110)."""

from __future__ import annotations

import re
from datetime import UTC
from email.utils import format_datetime, parsedate_to_datetime

from tapestry.core.clock import SECOND, to_datetime, to_instant

_SECONDS = re.compile(r"\d{1,10}", re.ASCII)


def format_http_date(instant: int) -> str:
    """Write an instant as an HTTP date, to the second before it (RFC 9110 section 5.6.7).

    >>> format_http_date(784111777999999)
    'Sun, 06 Nov 1994 08:49:37 GMT'
    """
    moment = to_datetime(instant // SECOND * SECOND)
    return format_datetime(moment.astimezone(UTC), usegmt=True)


def parse_http_date(text: str) -> int | None:
    """Read an HTTP date as an instant; None if it is none.

    >>> parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), parse_http_date("soon")
    (784111777000000, None)
    """
    try:
        return to_instant(parsedate_to_datetime(text))
    except (ValueError, TypeError, OverflowError):
        return None


def parse_retry_after(text: str | None, now: int) -> float | None:
    """Return the seconds that a Retry-After asks for, None if it says nothing that counts.

    It is a number of seconds or a date (RFC 9110 section 10.2.3).

    >>> parse_retry_after("120", now=0), parse_retry_after("Thu, 01 Jan 1970 00:00:09 GMT", now=0)
    (120.0, 9.0)
    """
    stripped = (text or "").strip()
    if _SECONDS.fullmatch(stripped):
        return float(stripped)
    instant = parse_http_date(stripped)
    return None if instant is None else max(0.0, (instant - now) / SECOND)
