"""The file name and the media type of a part of a message, as its headers say them.

Names come as parameters with a charset, perhaps in pieces (RFC 2231), as encoded words though
these have no place there (RFC 2047, section 5), as bytes of any charset, or as several of these.
"""

from __future__ import annotations

import re
from email.message import Message as Headers
from mimetypes import MimeTypes

from tapestry.mime.headers import decoded, raw_text

LONGEST_NAME = 255
"""Characters of a name that are kept: its end, with what says the kind of file."""

ANYTHING = "application/octet-stream"
"""The media type of bytes."""

_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,127}/[a-z0-9!#$&^_.+-]{1,127}")
_BYTES = re.compile(
    r"application/(?:x-)?(?:octet-?streams?|(?:force-)?download|binary|unknown|save|file)"
)
_IN_HEADERS = ("content-disposition", "content-type")


def file_name(headers: Headers) -> str:
    r"""Return the name of a part's file in one line, empty if none can be read.

    >>> from tapestry.mime.header_section import headers_of
    >>> def name(text):
    ...     return file_name(headers_of(b"Content-Disposition: attachment; " + text)[0])
    >>> name(b"filename*0*=utf-8''na%C3%AF; filename*1=ve.pdf")
    'naïve.pdf'
    >>> name(b'filename="=?utf-8?q?na=C3=AFve?= =?utf-8?q?.pdf?="')
    'naïve.pdf'
    >>> name("filename=\"naïve.pdf\"".encode("latin-1"))
    'naïve.pdf'
    """
    named = Headers()
    for name, value in headers.raw_items():
        if name.lower() in _IN_HEADERS and name not in named:
            named[name] = raw_text(str(value))
    try:
        name = named.get_filename() or ""
    except Exception:
        return ""  # the standard parser raises various errors at pieces that do not go together
    return " ".join(decoded(name).split())[-LONGEST_NAME:]


def media_type(kind: str, name: str = "") -> str:
    """Return the media type that a part says it is of; nonsense is bytes.

    Of bytes it is what the ending of their name says, if that is known.

    >>> media_type("image/png"), media_type("no type"), media_type(ANYTHING, "Report.PDF")
    ('image/png', 'application/octet-stream', 'application/pdf')
    """
    if not _TYPE.fullmatch(kind):
        kind = ANYTHING
    if not _BYTES.fullmatch(kind):
        return kind
    # What has a colon is taken for an address; of a compressed file the type is what is inside.
    guessed, encoding = _TYPES.guess_type(name.replace(":", " "))
    return ANYTHING if guessed is None or encoding else guessed


_TYPES = MimeTypes()
"""The types that Python knows by itself: those of the machine may differ."""
