"""The text that a reader sees in the parts of a message, and its attachments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

from tapestry.core.message import LONGEST_TEXT
from tapestry.mime.attachment import file_name, media_type
from tapestry.mime.event import LONGEST
from tapestry.mime.html_text import LONGEST as LONGEST_HTML
from tapestry.mime.html_text import html_text
from tapestry.mime.patch import MOST_PATHS, changed_paths
from tapestry.mime.sections import Section

_TEXTS = ("text/plain", "text/html")
"""How the kinds of parts begin that are text; some programs leave out the semicolon."""

MOST_FILES = 1000
"""Attachments whose names and media types are read."""

LONGEST_PATCH = 1024 * 1024
"""Bytes of a patch that is attached that are read for the files that it touches."""

_NOT_ATTACHMENTS = {
    "application/pgp-signature",
    "application/pgp-encrypted",
    "application/pkcs7-signature",
    "application/x-pkcs7-signature",
}
_PATCHES = ("text/x-patch", "text/x-diff", "text/x-dpatch", "application/x-patch")


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
    patches: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    length: int = 0
    html_length: int = 0
    patch_length: int = 0
    calendar: str = ""

    @property
    def text(self) -> str | None:
        """The plain text if there is any, else the HTML as text."""
        plain = "\n".join(self.plain)
        if plain.strip():
            return plain
        return "\n".join(text for html in self.html if (text := html_text(html))) or plain or None

    @property
    def diff_paths(self) -> tuple[str, ...]:
        """The files that patches touch, in the plain text and attached, each path once."""
        paths = (path for text in (*self.plain, *self.patches) for path in changed_paths(text))
        return tuple(islice(dict.fromkeys(paths), MOST_PATHS))


def read_body(raw: bytes, sections: Iterable[Section]) -> Reading:
    """Read a message's sections; text of a message forwarded inline counts."""
    reading, passed = Reading(), 0
    for section in sections:
        if section.start < passed:
            continue  # a part of an attachment
        reading.problems += section.problems
        if section.kind == "text/calendar" and not reading.calendar:
            reading.calendar = section.text(raw, LONGEST)
        if section.is_multipart or section.is_mail:
            if section.is_mail and section.start > 0:
                _attach(raw, section, reading)
            passed = section.end if section.is_attached else passed
        elif section.is_attached or not section.kind.startswith(_TEXTS):
            is_shown = section.is_related and not section.is_attached
            if section.kind not in _NOT_ATTACHMENTS and not is_shown:
                _attach(raw, section, reading)
        elif reading.length < LONGEST_TEXT:
            _read_text(raw, section, reading)
    return reading


def _attach(raw: bytes, section: Section, reading: Reading) -> None:
    reading.attachments += 1
    if reading.attachments > MOST_FILES:
        return
    name = file_name(section.headers)
    if name:
        reading.filenames[name] = None
    kind = media_type(section.kind, name)
    reading.media_types[kind] = None
    is_patch = kind in _PATCHES or name.lower().endswith((".patch", ".diff"))
    if is_patch and reading.patch_length < LONGEST_PATCH:
        text = section.text(raw, LONGEST_PATCH)
        reading.patches.append(text)
        reading.patch_length += len(text)


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
