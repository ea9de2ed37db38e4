"""Text to lines, each with its depth of quotation; format=flowed is undone (RFC 3676)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Format = Literal["fixed", "flowed", "flowed-delsp"]

_QUOTED = re.compile(r"(?:[ ]{0,2}>)+")
_SPACE_AFTER = " "
SIGNATURE = "-- "

DEEPEST = 20
"""Levels of quotation that are told apart."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its quote marks, and how many those were."""

    depth: int
    text: str


def lines_of(body: str, text_format: Format = "fixed") -> list[Line]:
    r"""Return the lines of a body; those of format=flowed are whole paragraphs.

    >>> lines_of("> Shall \n> we?\nYes\n", "flowed")
    [Line(depth=1, text='Shall we?'), Line(depth=0, text='Yes')]
    """
    bare = body.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    raw = bare.split("\n") if bare else []
    if text_format == "fixed":
        return [_fixed(line) for line in raw]
    return _unflowed(raw, del_sp=text_format == "flowed-delsp")


def _fixed(line: str) -> Line:
    marks = _QUOTED.match(line)
    if marks is None or line.startswith(">From "):  # what an mbox makes of “From ” (RFC 4155)
        return Line(0, line)
    depth = min(marks[0].count(">"), DEEPEST)
    return Line(depth, line[marks.end() :].removeprefix(_SPACE_AFTER))


def _unflowed(raw: list[str], *, del_sp: bool) -> list[Line]:
    """Join flowed lines, as section 4.2 of RFC 3676 has it."""
    lines: list[Line] = []
    pieces: list[str] = []
    depth = 0
    for line in raw:
        content = line.lstrip(">")
        line_depth = len(line) - len(content)
        content = content.removeprefix(_SPACE_AFTER)  # stuffed (section 4.4)
        is_signature = content == SIGNATURE
        if pieces and (line_depth != depth or is_signature):
            # A paragraph that ends in a flowed line: improper, and that is its end (4.5).
            lines.append(Line(min(depth, DEEPEST), "".join(pieces)))
            pieces = []
        depth = line_depth
        if content.endswith(" ") and not is_signature:
            pieces.append(content[:-1] if del_sp else content)
        else:
            lines.append(Line(min(depth, DEEPEST), "".join(pieces) + content))
            pieces = []
    if pieces:
        lines.append(Line(min(depth, DEEPEST), "".join(pieces)))
    return lines
