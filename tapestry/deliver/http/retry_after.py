"""Retry-After: how long a server asks to be left alone (RFC 9110 section 10.2.3)."""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime

from tapestry.core.clock import SECOND, to_instant

_SECONDS = re.compile(r"\d{1,10}", re.ASCII)


def parse_retry_after(text: str | None, now: int) -> float | None:
    """Return the seconds that a Retry-After asks for, None if it says nothing that counts.

    It is a number of seconds or a date.

    >>> parse_retry_after("120", now=0), parse_retry_after("Thu, 01 Jan 1970 00:00:09 GMT", now=0)
    (120.0, 9.0)
    """
    stripped = (text or "").strip()
    if _SECONDS.fullmatch(stripped):
        return float(stripped)
    try:
        instant = to_instant(parsedate_to_datetime(stripped))
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, (instant - now) / SECOND)
