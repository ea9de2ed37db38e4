"""The text that a reader sees in the parts of a message, and the number of attachments."""

from __future__ import annotations

from dataclasses import dataclass, field
from email.message import Message as Part

from tapestry.mime.bounded_parser import DEEPEST
from tapestry.mime.charset import decode
from tapestry.mime.html_text import LONGEST as LONGEST_HTML
from tapestry.mime.html_text import html_text

LONGEST = 256 * 1024
"""Bytes of text that are kept."""

_NOT_ATTACHMENTS = {
    "application/pgp-signature",
    "application/pgp-encrypted",
    "application/pkcs7-signature",
    "application/x-pkcs7-signature",
}


@dataclass(slots=True)
class Reading:
    """What was read of a message's parts; ``problems`` says what could not be."""

    plain: list[str] = field(default_factory=list)
    html: list[str] = field(default_factory=list)
    attachments: int = 0
    problems: list[str] = field(default_factory=list)
    length: int = 0
    html_length: int = 0

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
                if reading.html_length < LONGEST_HTML:
                    reading.html.append(text)
                    reading.html_length += len(text)
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
