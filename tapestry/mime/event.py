"""The event that a message's calendar part is about: its UID, and what is to be done (RFC 5546)."""

from __future__ import annotations

import re
from typing import NamedTuple

LONGEST = 64 * 1024
"""Characters of a calendar part that are looked at."""

_FOLD = re.compile(r"\r?\n[ \t]")
_METHOD = re.compile(r"^METHOD:([\w-]{1,32})\s*$", re.IGNORECASE | re.MULTILINE)
_EVENT = re.compile(r"^BEGIN:VEVENT\s*$", re.IGNORECASE | re.MULTILINE)
_END = re.compile(r"^END:VEVENT\s*$", re.IGNORECASE | re.MULTILINE)
_ONE_TIME = re.compile(
    r"^RECURRENCE-ID(?:;[^:\r\n]*)?:([^\r\n]{1,64})\r?$", re.IGNORECASE | re.MULTILINE
)
_UID = re.compile(r"^UID(?:;[^:\r\n]*)?:([^\r\n]{1,998})\r?$", re.IGNORECASE | re.MULTILINE)


class CalendarPart(NamedTuple):
    """The UID of an event, and the method in small letters; None without an event.

    Where one time of a series is cancelled, it is behind the UID: the series takes place.
    """

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
    event, found = uid[1].strip(), _METHOD.search(unfolded)
    method = found and found[1].lower()
    end = _END.search(unfolded, uid.end())
    time = _ONE_TIME.search(unfolded[: end and end.start()], begin.end()) if begin else None
    if event and time and method == "cancel":
        event = f"{event} {time[1].strip()}"
    return CalendarPart(event or None, method)
