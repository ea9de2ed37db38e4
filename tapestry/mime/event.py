"""The event that a message's calendar part is about: its UID, and what is to be done (RFC 5546)."""

from __future__ import annotations

import re
from typing import NamedTuple

LONGEST = 64 * 1024
"""Characters of a calendar part that are looked at."""

_FOLD = re.compile(r"\r?\n[ \t]")
_METHOD = re.compile(r"^METHOD:([\w-]{1,32})\s*$", re.IGNORECASE | re.MULTILINE)
_EVENT = re.compile(r"^BEGIN:VEVENT\s*$", re.IGNORECASE | re.MULTILINE)
_UID = re.compile(r"^UID(?:;[^:\r\n]*)?:([^\r\n]{1,998})\r?$", re.IGNORECASE | re.MULTILINE)


class CalendarPart(NamedTuple):
    """The UID of an event, and the method in small letters; None without an event."""

    event: str | None = None
    method: str | None = None


def calendar_part(text: str) -> CalendarPart:
    r"""Return which event a calendar part is about: the first in it.

    >>> calendar_part("METHOD:CANCEL\r\nBEGIN:VEVENT\r\nUID:4@x.\r\n org\r\nEND:VEVENT")
    CalendarPart(event='4@x.org', method='cancel')
    """
    unfolded = _FOLD.sub("", text[:LONGEST])
    begin = _EVENT.search(unfolded)
    uid = _UID.search(unfolded, begin.end()) if begin else None
    if uid is None:
        return CalendarPart()
    method = _METHOD.search(unfolded)
    return CalendarPart(uid[1].strip() or None, method and method[1].lower())
