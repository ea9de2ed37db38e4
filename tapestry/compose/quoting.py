"""Beginnings of a reply or a forwarded message: the subject, the attribution, the quote."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from tapestry.deliver.one_line import one_line
from tapestry.identity.list_footers import without_footers

LONGEST_QUOTE = 60_000
"""Characters of a message that are quoted."""

LONGEST_SUBJECT = 500

FORWARDED = "---------- Forwarded message ----------"
"""The line at the head of a message that is sent on as text."""

_LINE_END = re.compile(r"\r\n|\r|\n|\u2028|\u2029|\x0b|\x0c")
_REPLY = re.compile(r"\s*(?:re|aw|sv|antw)(?:\[\d{1,4}\])?\s?:", re.IGNORECASE)
_FORWARD = re.compile(r"\s*(?:fwd?|wg)\s?:", re.IGNORECASE)
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")


def reply_subject(subject: str | None) -> str:
    """Return the subject of a reply: with one “Re:” at its head.

    >>> reply_subject("Re: AW: re[2]: [R] lunch")
    'Re: [R] lunch'
    """
    return _headed("Re: ", _REPLY, subject)


def forward_subject(subject: str | None) -> str:
    """Return the subject of a forwarded message.

    >>> forward_subject("FW: Re: lunch")
    'Fwd: Re: lunch'
    """
    return _headed("Fwd: ", _FORWARD, subject)


def _headed(head: str, pattern: re.Pattern[str], subject: str | None) -> str:
    rest = one_line(subject or "", LONGEST_SUBJECT)
    while found := pattern.match(rest):
        rest = rest[found.end() :]
    return f"{head}{rest.strip()}".strip()


def attribution(who: str, date: datetime | None) -> str:
    """Return the line that says whose words follow.

    >>> attribution("Mary Jones", datetime(2026, 3, 1, 9, 5))
    'On 1 March 2026 at 09:05, Mary Jones wrote:'
    """
    name = one_line(who, 80) or "somebody"
    if date is None:
        return f"{name} wrote:"
    return f"On {date.day} {date:%B %Y} at {date:%H:%M}, {name} wrote:"


def quoted(text: str | None) -> str:
    r"""Return a text with quoting marks, without its signature and the footers of lists.

    >>> quoted("At noon?\n> Lunch?\n\n-- \nMary")
    '> At noon?\n>> Lunch?'
    """
    kept = without_signature(without_footers(_bounded(text))).strip("\n")
    return "\n".join(_marked(line.rstrip()) for line in kept.split("\n")) if kept else ""


def _marked(line: str) -> str:
    return f">{line}" if line.startswith(">") else f"> {line}".rstrip()


def without_signature(text: str) -> str:
    r"""Return a text up to the line that separates its signature.

    >>> without_signature("At noon?\n-- \nMary")
    'At noon?'
    """
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if line in ("-- ", "--") and number:
            return "\n".join(lines[:number]).rstrip("\n")
    return text


def forwarded(headers: Iterable[tuple[str, str]], text: str | None) -> str:
    """Return a message as text to be sent on, with those of its headers that people read."""
    lines = [FORWARDED]
    lines += [f"{name}: {one_line(value, 1000)}" for name, value in headers if value]
    body = "\n".join(line.rstrip() for line in _bounded(text).strip("\n").split("\n"))
    return "\n".join([*lines, "", body])


def _bounded(text: str | None) -> str:
    lines = "\n".join(_LINE_END.split(text or ""))
    kept = _CONTROL.sub("", lines[:LONGEST_QUOTE])
    return kept if len(lines) <= LONGEST_QUOTE else kept.rpartition("\n")[0] + "\n[…]"
