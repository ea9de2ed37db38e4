"""The text that a reader sees in the parts of a message, and its attachments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tapestry.core.message import LONGEST_TEXT
from tapestry.mime.attachment import file_name, media_type
from tapestry.mime.html_text import LONGEST as LONGEST_HTML
from tapestry.mime.html_text import html_text
from tapestry.mime.sections import Section

_TEXTS = ("text/plain", "text/html")
"""How the kinds of parts begin that are text; some programs leave out the semicolon."""

MOST_FILES = 1000
"""Attachments whose names and media types are read."""

_NOT_ATTACHMENTS = {
    "application/pgp-signature",
    "application/pgp-encrypted",
    "application/pkcs7-signature",
    "application/x-pkcs7-signature",
}


@dataclass(slots=True)
class Reading:
    """Text that was read of a message's parts; ``problems`` says what could not be.

    ``filenames`` and ``media_types`` are those of the attachments, each once, in their order.
    """

    plain: list[str] = field(default_factory=list)
    html: list[str] = field(default_factory=list)
    attachments: int = 0
    filenames: dict[str, None] = field(default_factory=dict)
    media_types: dict[str, None] = field(default_factory=dict)
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


def read_body(raw: bytes, sections: Iterable[Section]) -> Reading:
    """Read a message's sections; text of a message forwarded inline counts."""
    reading, passed = Reading(), 0
    for section in sections:
        if section.start < passed:
            continue  # a part of an attachment
        reading.problems += section.problems
        if section.is_multipart or section.is_mail:
            if section.is_mail and section.start > 0:
                _attach(section, reading)
            passed = section.end if section.is_attached else passed
        elif section.is_attached or not section.kind.startswith(_TEXTS):
            is_shown = section.is_related and not section.is_attached
            if section.kind not in _NOT_ATTACHMENTS and not is_shown:
                _attach(section, reading)
        elif reading.length < LONGEST_TEXT:
            _read_text(raw, section, reading)
    return reading


def _attach(section: Section, reading: Reading) -> None:
    reading.attachments += 1
    if reading.attachments > MOST_FILES:
        return
    name = file_name(section.headers)
    if name:
        reading.filenames[name] = None
    reading.media_types[media_type(section.kind, name)] = None


def _read_text(raw: bytes, section: Section, reading: Reading) -> None:
    # A character has four bytes at most.
    text, problems = section.read_text(raw, 4 * LONGEST_TEXT)
    reading.problems += problems
    if section.kind != "text/html":
        reading.plain.append(text)
        reading.length += len(text)
    elif reading.html_length < LONGEST_HTML:
        reading.html.append(text)
        reading.html_length += len(text)
