"""Mail that a program sent, by its headers: no question to anybody, and no answer (RFC 3834)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

REPLY, REPORT, CALENDAR, NOTICE, BULK = "reply", "report", "calendar", "notice", "bulk"

_RESPONDERS = ("x-autoreply", "x-autorespond", "x-autoresponder", "x-autoreply-from")
_DAEMON = "mailer-daemon@"


def automatic(headers: Mapping[str, list[str]], kinds: Collection[str], sender: str) -> str | None:
    """Return which kind of program sent a message: REPLY, REPORT, …; None if a person did.

    ``headers`` are its values by name in lower case, ``kinds`` the media types of its sections.
    What a mailing list passes on is its author's, whatever its Precedence.

    >>> automatic({"auto-submitted": ["auto-replied (vacation)"]}, [], "joe@x.org")
    'reply'
    """
    submitted = _first(headers, "auto-submitted")
    precedence = _first(headers, "precedence")
    if submitted.startswith("auto-replied") or precedence == "auto_reply":
        return REPLY
    if any(_first(headers, name) not in ("", "no") for name in _RESPONDERS):
        return REPLY
    if "multipart/report" in kinds or "x-failed-recipients" in headers:
        return REPORT
    if sender.lower().startswith(_DAEMON) or _first(headers, "return-path") == "<>":
        return REPORT
    if "text/calendar" in kinds:
        return CALENDAR
    # X-Auto-Response-Suppress says nothing of who wrote: whoever sends mail on adds it.
    if submitted not in ("", "no"):
        return NOTICE
    is_of_list = any(name in headers for name in ("list-id", "list-post", "x-mailing-list"))
    is_bulk = precedence in ("bulk", "junk", "list") or "list-unsubscribe" in headers
    return BULK if is_bulk and not is_of_list and "in-reply-to" not in headers else None


def _first(headers: Mapping[str, list[str]], name: str) -> str:
    return headers.get(name, [""])[0].partition(";")[0].strip().lower()
