"""The parts of a message by the standard parser, its work bounded by the message's length.

That parser looks at a header's parameters anew from each semicolon, and at each line once for
every multipart that is open: mail made to cost hours is a few thousand bytes long.
"""

from __future__ import annotations

from collections.abc import Callable
from email.message import Message as Part
from email.parser import BytesFeedParser
from email.policy import Compat32
from typing import Any

DEEPEST, SHALLOWEST = 100, 10
"""Levels of parts within parts that are read: in all messages, and in the longest."""

LONGEST, MOST = 8 * 1024, 100
"""Characters, and parameters, of a header that says what a part is; real ones have few."""

_WORK = 10_000_000
"""Lines times levels that are compared with what may end a part: some seconds."""


class _Bounded(Compat32):
    """Cuts the headers that have parameters."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        if name[:8].lower() == "content-":
            value = ";".join(value[:LONGEST].split(";", MOST)[:MOST])
        return name, value


POLICY = _Bounded()


def structure_of(raw: bytes) -> Part:
    """Return a message with its parts; RecursionError if they are nested too deep."""
    levels = min(DEEPEST, max(SHALLOWEST, _WORK // (raw.count(b"\n") + raw.count(b"\r") + 1)))
    parser = BytesFeedParser(policy=POLICY)
    lines: Any = vars(parser)["_input"]
    push: Callable[[Any], None] = lines.push_eof_matcher

    def push_if_shallow(ends: Any) -> None:
        if len(lines._eofstack) >= levels:
            raise RecursionError
        push(ends)

    lines.push_eof_matcher = push_if_shallow
    parser.feed(raw)
    part: Part = parser.close()
    return part
