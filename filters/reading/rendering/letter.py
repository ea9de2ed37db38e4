"""What a page shows of a message beside its headers: text, whether there is HTML, attachments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from filters.reading.rendering.attachments import (
    Attachment,
    attachments_of,
    inline_parts_of,
    pictures_by_id,
)
from filters.reading.rendering.html import document, has_remote_pictures, sanitized
from filters.reading.rendering.lines import Format
from filters.reading.rendering.text import text_html
from tapestry.core.message import LONGEST_TEXT
from tapestry.mime.html_text import LONGEST as LONGEST_HTML
from tapestry.mime.sections import Section, sections

_CONTENT_ID = re.compile(r"""\bsrc\s*=\s*["']?\s*cid:<?([^"'<>\s]{1,500})""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Letter:
    """``text`` is safe HTML.  ``has_html``: it was sent as HTML, too or alone.

    ``has_remote`` tells whether its HTML has pictures of other sites, ``inline`` are the parts that
    it shows and the text does not.
    """

    text: SafeString
    has_html: bool = False
    has_remote: bool = False
    attachments: tuple[Attachment, ...] = ()
    inline: tuple[Attachment, ...] = ()


def read_letter(body: str | None, raw: bytes | None) -> Letter:
    """Return what a page shows of a body, and of the original of the message if it was kept."""
    if raw is None:
        return Letter(text_html(body))
    parts = list(sections(raw))
    plain, html = _of_kind(parts, "text/plain"), _html_of(parts, raw)
    shown = set(_CONTENT_ID.findall(html)) - {""}
    return Letter(
        _text(body, plain, raw),
        has_html=bool(html.strip()),
        has_remote=has_remote_pictures(html),
        attachments=attachments_of(raw, parts, shown),
        inline=inline_parts_of(raw, parts, shown),
    )


def html_document(raw: bytes, *, has_remote: bool = False) -> str | None:
    """Return the HTML of a message as a document for a frame; None if it has none."""
    parts = list(sections(raw))
    html = _html_of(parts, raw)
    if not html.strip():
        return None
    return document(sanitized(html, pictures_by_id(raw, parts), has_remote=has_remote))


def _of_kind(parts: Sequence[Section], kind: str) -> list[Section]:
    return [part for part in parts if part.kind == kind and not part.is_attached]


def _html_of(parts: Sequence[Section], raw: bytes) -> str:
    pieces: list[str] = []
    room = LONGEST_HTML
    for part in _of_kind(parts, "text/html"):
        if room > 0 and not part.is_of_mail:
            pieces.append(part.text(raw, 4 * LONGEST_HTML)[:room])
            room -= len(pieces[-1])
    return "\n".join(pieces)


def _text(body: str | None, plain: Sequence[Section], raw: bytes) -> SafeString:
    """Return the text of each part in its own format, without that of attached messages.

    If the parts are not what the ingest read, it is the body as that read it.
    """
    texts = [part.text(raw, 4 * LONGEST_TEXT) for part in plain]
    if not plain or "\n".join(texts) != body:
        return text_html(body)
    own = [(part, text) for part, text in zip(plain, texts, strict=True) if not part.is_of_mail]
    return mark_safe("".join(text_html(text, _format(part)) for part, text in own))


def _format(part: Section) -> Format:
    """Return the format of a text (RFC 3676, 4.1)."""
    if part.parameter("format") != "flowed":
        return "fixed"
    return "flowed-delsp" if part.parameter("delsp") == "yes" else "flowed"
