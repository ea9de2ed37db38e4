"""The parts of a message, the text that a reader sees in them, and the number of attachments.

The work of the standard parser is bounded by the message's length.  That parser looks at a
header's parameters anew from each semicolon, and at each line once for every multipart that is
open: mail made to cost hours is a few thousand bytes long.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from email.message import Message as Part
from email.parser import BytesFeedParser
from email.policy import Compat32
from typing import Any

from tapestry.ingest.mime.charset import decode
from tapestry.ingest.mime.html_text import html_text

LONGEST = 256 * 1024
"""Bytes of text that are kept."""

DEEPEST, SHALLOWEST = 100, 10
"""Levels of parts within parts that are read: in all messages, and in the longest."""

LONGEST_HEADER, MOST_PARAMETERS = 8 * 1024, 100
"""Characters, and parameters, of a header that says what a part is; real ones have few."""

_WORK = 10_000_000
"""Lines times levels that are compared with what may end a part: some seconds."""

_NOT_ATTACHMENTS = {
    "application/pgp-signature",
    "application/pgp-encrypted",
    "application/pkcs7-signature",
    "application/x-pkcs7-signature",
}


class _Bounded(Compat32):
    """Cuts the headers that have parameters."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        if name[:8].lower() == "content-":
            value = ";".join(value[:LONGEST_HEADER].split(";", MOST_PARAMETERS)[:MOST_PARAMETERS])
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


@dataclass(slots=True)
class Reading:
    """What was read of a message's parts; ``problems`` says what could not be."""

    plain: list[str] = field(default_factory=list)
    html: list[str] = field(default_factory=list)
    attachments: int = 0
    problems: list[str] = field(default_factory=list)
    length: int = 0

    @property
    def text(self) -> str | None:
        """The plain text if there is any, else the HTML as text."""
        plain = "\n".join(self.plain)
        if plain.strip():
            return plain
        return "\n".join(text for html in self.html if (text := html_text(html))) or plain or None


def read_body(message: Part) -> Reading:
    """Read a message's parts, outermost first; text of a message forwarded inline counts."""
    reading = Reading()
    # A stack, not recursion: the sender chooses the depth.
    waiting: list[tuple[Part, int, bool]] = [(message, 0, False)]
    while waiting:
        part, depth, related = waiting.pop()
        reading.problems += [type(defect).__name__ for defect in part.defects]
        kind = part.get_content_type()
        attached = part.get_content_disposition() == "attachment"
        payload = part.get_payload()
        if isinstance(payload, list):
            if kind.startswith("message/") and depth:
                reading.attachments += 1
            if attached:
                continue
            if depth > DEEPEST:
                reading.problems.append("too many levels")
                continue
            inner = [
                (child, depth + 1, kind == "multipart/related" and number > 0)
                for number, child in enumerate(payload)
                if isinstance(child, Part)
            ]
            waiting.extend(reversed(inner))
        elif attached or not kind.startswith(("text/plain", "text/html", "multipart/")):
            if kind not in _NOT_ATTACHMENTS and (attached or not related):
                reading.attachments += 1
        elif reading.length < LONGEST:
            text = _text_of(part, reading)
            if kind == "text/html":
                reading.html.append(text)
            else:
                reading.plain.append(text)
                reading.length += len(text)
    return reading


def _text_of(part: Part, reading: Reading) -> str:
    before = len(part.defects)
    data = part.get_payload(decode=True)
    reading.problems += [type(defect).__name__ for defect in part.defects[before:]]
    if not isinstance(data, bytes):
        return ""
    # A character has four bytes at most.
    return decode(data[: 4 * LONGEST], part.get_content_charset()).replace("\r\n", "\n")
