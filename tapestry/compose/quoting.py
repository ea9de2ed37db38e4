"""Beginnings of a reply or a forwarded message: the subject, the attribution, the quote."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from tapestry.compose.flowed import SIGNATURE
from tapestry.deliver.one_line import one_line
from tapestry.identity.base_subject import FORWARD, REPLY
from tapestry.identity.list_footers import without_footers

LONGEST_QUOTE = 60_000
"""Characters of a message that are quoted."""

LONGEST_SUBJECT = 500

FORWARDED = "---------- Forwarded message ----------"
"""The line at the head of a message that is sent on as text."""

_LINE_END = re.compile(r"\r\n|\r|\n|\u2028|\u2029|\x0b|\x0c")
_REPLY = re.compile(rf"\s*(?:{REPLY})(?:\[\d{{1,4}}\])?\s?:", re.IGNORECASE)
_FORWARD = re.compile(rf"\s*(?:{FORWARD})\s?:", re.IGNORECASE)
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


def own_text(text: str) -> tuple[str, str]:
    r"""Return what a person wrote above a signature or what is quoted, and the rest.

    >>> own_text("At noon?\n\nMary wrote:\n> Lunch?")
    ('At noon?', 'Mary wrote:\n> Lunch?')
    """
    lines = text.split("\n")
    end = next((n for n, line in enumerate(lines) if _ends_own_text(line)), len(lines))
    if end < len(lines) and lines[end].startswith(">") and end and lines[end - 1].endswith(":"):
        end -= 1
    return "\n".join(lines[:end]).rstrip("\n"), "\n".join(lines[end:])


def _ends_own_text(line: str) -> bool:
    return line in (SIGNATURE, FORWARDED) or line.startswith(">")


def with_own_text(text: str, addition: str) -> str:
    r"""Return a text with more at the end of what its writer wrote.

    >>> with_own_text("At noon?\n\nMary wrote:\n> Lunch?", "Bring soup.")
    'At noon?\n\nBring soup.\n\nMary wrote:\n> Lunch?'
    """
    own, rest = own_text(text)
    return "\n\n".join(part for part in (own, addition, rest) if part)


def signed(text: str, signature: str) -> str:
    r"""Return a text that begins a message with a signature above what is quoted.

    >>> signed("\n\nMary wrote:\n> Lunch?", "Al")
    '\n\n-- \nAl\n\nMary wrote:\n> Lunch?'
    """
    own, rest = own_text(text)
    return f"{own}\n\n{SIGNATURE}\n{signature}" + (f"\n\n{rest}" if rest else "")


def signed_anew(text: str, former: str, signature: str) -> str:
    r"""Return a text with another signature, or none, where it has ``former`` as it was.

    >>> signed_anew("At noon?\n\n-- \nAl\n\n> Lunch?", "Al", "Office")
    'At noon?\n\n-- \nOffice\n\n> Lunch?'
    >>> signed_anew("At noon?\n\n-- \nAlan", "Al", "Office")
    'At noon?\n\n-- \nAlan'
    """
    rest, old = own_text(text)[1], f"{SIGNATURE}\n{former}"
    if not former or not f"{rest}\n".startswith(f"{old}\n"):
        return text
    begin = len(text) - len(rest)
    new = f"{SIGNATURE}\n{signature}" if signature else ""
    return text[:begin] + new + text[begin + len(old) :]


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
