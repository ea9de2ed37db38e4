"""A strict reader of iCalendar documents of events (RFC 5545)."""

from __future__ import annotations

import re

_LINE = re.compile(r"([A-Z-]+)((?:;[A-Z-]+=[^\x00-\x1f\";:,]+)*):([^\x00-\x1f\x7f]*)")
_ESCAPE = re.compile(r"\\(.)")
_TEXTS = {"UID", "SUMMARY", "X-WR-CALNAME"}


def events_of(document: bytes) -> list[dict[str, str]]:
    """Return the properties of each event; raise ValueError where a rule is broken."""
    if not document.endswith(b"\r\n"):
        raise ValueError("the last line has no end")
    physical = document[:-2].split(b"\r\n")
    if any(len(line) > 75 or b"\n" in line or b"\r" in line for line in physical):
        raise ValueError("a line is too long, or ends otherwise")
    # No character is cut by a fold.
    lines = "\r\n".join(piece.decode() for piece in physical).replace("\r\n ", "").split("\r\n")
    if (lines[0], lines[-1]) != ("BEGIN:VCALENDAR", "END:VCALENDAR"):
        raise ValueError("it is no calendar")
    events: list[dict[str, str]] = []
    stack: list[str] = []
    for line in lines:
        match = _LINE.fullmatch(line)
        if match is None:
            raise ValueError(f"no content line: {line!r}")
        name, value = match[1], match[3]
        if name == "BEGIN":
            stack.append(value)
            if value == "VEVENT":
                events.append({})
        elif name == "END":
            if stack.pop() != value:
                raise ValueError("components overlap")
        elif stack == ["VCALENDAR", "VEVENT"]:
            if name in events[-1]:
                raise ValueError(f"{name} comes twice")
            events[-1][name] = _text(value) if name in _TEXTS else value
    for event in events:
        if not {"UID", "DTSTAMP", "DTSTART"} <= event.keys():
            raise ValueError("an event lacks what it must have")
        if not all(re.fullmatch(r"\d{8}T\d{6}Z", event[name]) for name in ("DTSTAMP", "DTSTART")):
            raise ValueError("an instant is none")
    if len({event["UID"] for event in events}) < len(events):
        raise ValueError("two events have one UID")
    return events


def _text(value: str) -> str:
    if re.search(r"(?<!\\)(?:\\\\)*[;,]", value) or re.search(r"\\(?![\\;,nN])", _pairs(value)):
        raise ValueError(f"not escaped: {value!r}")
    return _ESCAPE.sub(lambda found: {"n": "\n", "N": "\n"}.get(found[1], found[1]), value)


def _pairs(value: str) -> str:
    return value.replace("\\\\", "")
