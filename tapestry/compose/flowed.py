r"""Text in lines for mail: paragraphs that flow again at the other end (format=flowed, RFC 3676).

A line that ends in a space goes on in the next; all others end where they end.  So a person may
write paragraphs as long lines, and readers of both kinds see them well.
"""

from __future__ import annotations

import re

WIDTH = 72
"""Columns of a line, its last space included; a longer word stays whole."""

SIGNATURE = "-- "

_QUOTE = re.compile(r">(?: ?>)*")
_STUFFED = (" ", ">", "From ")
_LINE_END = re.compile(r"\r\n|\r|\n|\u2028|\u2029|\x0b|\x0c")


def flowed(text: str) -> str:
    r"""Return a text whose long lines are broken so that they flow; lines end in LF.

    Quoted lines are broken at their depth.  Spaces at the ends of lines go, except in the line
    that separates the signature.

    >>> flowed("Lunch?  \n> From me\n indented")
    'Lunch?\n> From me\n  indented\n'
    """
    lines = [line for given in _LINE_END.split(text.rstrip()) for line in _broken(given)]
    return "".join(f"{line}\n" for line in lines)


def quote_depth(line: str) -> tuple[int, str]:
    """Return how often a line is quoted, and its text.

    >>> quote_depth("> > noon? "), quote_depth("noon?")
    ((2, 'noon?'), (0, 'noon?'))
    """
    quote = _QUOTE.match(line)
    text = line[quote.end() :].expandtabs().removeprefix(" ") if quote else line.expandtabs()
    return quote[0].count(">") if quote else 0, text.rstrip()


def _broken(line: str) -> list[str]:
    """Return a line in parts, of which all but the last end in a space."""
    if line == SIGNATURE:
        return [line]
    depth, text = quote_depth(line)
    if not depth:
        *parts, last = _wrapped(text, WIDTH - 2)
        return [*(_stuffed(f"{part} ") for part in parts), _stuffed(last)]
    marks = ">" * depth
    *parts, last = _wrapped(text, WIDTH - len(marks) - 2)
    return [*(f"{marks} {part} " for part in parts), f"{marks} {last}".rstrip()]


def _stuffed(line: str) -> str:
    return f" {line}" if line.startswith(_STUFFED) else line


def _wrapped(text: str, width: int) -> list[str]:
    """Return a text in parts of so many columns; joined by spaces they are the text."""
    parts = []
    while len(text) > width:
        at = text.rfind(" ", 1, max(2, width) + 1)
        if at < 1 or not text[:at].strip():
            at = text.find(" ", max(1, width))
        if at < 0 or not text[at + 1 :].strip():
            break
        parts.append(text[:at])
        text = text[at + 1 :]
    return [*parts, text]
