"""The attachments of a message: their names made safe, their sizes, and what a page may show."""

from __future__ import annotations

import mimetypes
import re
import unicodedata
from base64 import b64encode
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import islice

from tapestry.mime.attachment import file_name, media_type
from tapestry.mime.sections import Section

MOST = 100
"""Attachments that a page names."""

LARGEST_PREVIEW = 5 * 1024 * 1024
"""Bytes of a picture that a page shows."""

LARGEST_PICTURES = 8 * 1024 * 1024
"""Bytes of all pictures in the HTML of a message."""

LONGEST_NAME = 120

_HEAD = 32
_PICTURES = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF.{4}WEBP", re.DOTALL), "image/webp"),
)
"""Kinds of pictures that browsers only draw, by their first bytes."""

_SIGNATURES = {
    "application/pgp-signature",
    "application/pgp-encrypted",
    "application/pkcs7-signature",
    "application/x-pkcs7-signature",
}
_NOT_IN_A_NAME = re.compile(r'[/\\:*?"<>|\s]+')


@dataclass(frozen=True, slots=True)
class Attachment:
    """A part that is not the text of a message; ``size`` in bytes.

    ``preview`` says as what a page may show it: ``picture``, ``text``, ``mail``, or not at all.
    """

    number: str
    name: str
    kind: str
    size: int
    preview: str


def is_attachment(section: Section) -> bool:
    """Tell whether a part is an attachment of the message, as the ingest counts them."""
    if section.is_multipart or section.kind in _SIGNATURES or section.is_of_mail:
        return False
    if section.is_attached or section.kind == "message/rfc822":
        return True
    return not section.kind.startswith(("text/plain", "text/html")) and not section.is_related


def is_inline(section: Section) -> bool:
    """Tell whether a part is one that the HTML of a message shows, such as a picture.

    Without the HTML it is seen nowhere.
    """
    if section.is_multipart or section.is_of_mail or is_attachment(section):
        return False
    return section.is_related and not section.kind.startswith(("text/plain", "text/html"))


def attachments_of(
    raw: bytes, sections: Iterable[Section], shown: Collection[str] = ()
) -> tuple[Attachment, ...]:
    """Return the attachments of a message, at most MOST, in order.

    Without the pictures that its HTML shows, by the Content-IDs ``shown`` there.
    """
    found = filter(is_attachment, sections)
    return _listed(raw, (part for part in found if not _is_shown(part, raw, shown)))


def inline_parts_of(
    raw: bytes, sections: Iterable[Section], shown: Collection[str] = ()
) -> tuple[Attachment, ...]:
    """Return the parts that the HTML of a message shows, at most MOST, in order."""
    return _listed(
        raw, (part for part in sections if is_inline(part) or _is_shown(part, raw, shown))
    )


def _is_shown(section: Section, raw: bytes, shown: Collection[str]) -> bool:
    is_named = not section.is_of_mail and section.content_id in shown
    return is_named and picture_kind(section, raw) is not None


def _listed(raw: bytes, wanted: Iterable[Section]) -> tuple[Attachment, ...]:
    return tuple(
        Attachment(
            section.number,
            name_of(section),
            kind_of(section),
            section.size(raw),
            _preview(section, raw),
        )
        for section in islice(wanted, MOST)
    )


def kind_of(section: Section) -> str:
    """Return the media type of a part, in lower case; of nonsense that of bytes."""
    return media_type(section.kind)


def name_of(section: Section) -> str:
    """Return the name for the file of a part: the sender's, made safe, else one of ours."""
    given = safe_name(file_name(section.headers))
    if given:
        return given
    if section.kind == "message/rfc822":
        return f"message-{section.number}.eml"
    return f"attachment-{section.number}{mimetypes.guess_extension(section.kind) or ''}"


def safe_name(name: str) -> str:
    r"""Return a file name without what leads elsewhere, or shows another name than it is.

    >>> safe_name("../../etc/pass\u202egpj.exe"), safe_name("  .profile\x00")
    ('etc-passgpj.exe', 'profile')
    """
    name = unicodedata.normalize("NFC", name[: 10 * LONGEST_NAME])
    # Control characters, those that turn the direction of writing, and unpaired surrogates.
    name = "".join(sign if sign in "\t\n " or sign.isprintable() else "" for sign in name)
    name = re.sub(r"(?:^|(?<=-))[.\s-]+", "", _NOT_IN_A_NAME.sub("-", name.strip()))
    stem, dot, extension = name.rpartition(".")
    if dot and len(extension) <= 12:
        return stem[: LONGEST_NAME - 13] + dot + extension
    return name[:LONGEST_NAME]


def picture_kind(section: Section, raw: bytes) -> str | None:
    """Return the media type of a picture that a page may show, None of anything else."""
    head = section.head(raw, _HEAD)
    return next((kind for magic, kind in _PICTURES if magic.match(head)), None)


def pictures_by_id(raw: bytes, sections: Iterable[Section]) -> dict[str, str]:
    """Return the pictures that HTML may name by Content-ID (RFC 2392), as ``data:`` addresses."""
    pictures: dict[str, str] = {}
    room = LARGEST_PICTURES
    for section in sections:
        if not section.content_id or section.is_of_mail or section.size(raw) > room:
            continue
        kind = picture_kind(section, raw)
        if kind is not None:
            data = section.content(raw)
            room -= len(data)
            pictures.setdefault(
                section.content_id, f"data:{kind};base64,{b64encode(data).decode()}"
            )
    return pictures


def _preview(section: Section, raw: bytes) -> str:
    if section.kind == "message/rfc822":
        return "mail"
    if section.kind.startswith("image/"):
        is_small = section.size(raw) <= LARGEST_PREVIEW
        return "picture" if is_small and picture_kind(section, raw) else ""
    return "text" if section.kind.startswith("text/") else ""
