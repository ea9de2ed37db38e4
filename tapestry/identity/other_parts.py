"""What a message has beside the plain text that is kept of it: HTML, attachments, links.

Copies of one message are compared by it (tapestry.identity.content).  Everything counts that is not
plain text for certain, so what is not understood makes messages different, never the same.  The
bytes are looked at once: no sender can make that take long.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64, a2b_qp
from collections.abc import Iterator
from hashlib import blake2b
from html import unescape

from tapestry.identity.content import words
from tapestry.identity.list_footers import without_footers
from tapestry.mime.html_text import LONGEST as LONGEST_HTML
from tapestry.mime.html_text import html_text

MOST_PARTS = 10_000
"""Parts that are told apart; what follows counts as one."""

MOST_HYPHENS = 200_000
"""Lines with two hyphens that may divide parts; what follows counts as one part."""

LONGEST_PLAIN = 256 * 1024
"""Bytes of a message whose plain text is kept to its end."""

LONGEST_HEADERS = 64 * 1024
_PREAMBLE = 200
"""Bytes before the first part that nobody is shown: “This is a multi-part message …”."""

_BOUNDARY = re.compile(
    rb'boundary[ \t]{0,9}=[ \t]{0,9}(?:"([^"\r\n]{1,200})"|([^\s;"]{1,200}))', re.IGNORECASE
)
_BLANK = re.compile(rb"\n\n|\A\n")
_SPACE = re.compile(rb"\s+")
_CONTENT = re.compile(rb"^content-([a-z-]{1,40})[ \t]*:(.*)", re.IGNORECASE | re.MULTILINE)
_FOLD = re.compile(rb"\n(?=[ \t])")
_NAME = re.compile(rb"name[*0-9]{0,9}[ \t]{0,9}=([^;\r\n]{1,1000})", re.IGNORECASE)
_LINK = re.compile(
    r"\b(?:href|src|action|formaction|background|content|data)\s{0,9}=\s{0,9}"
    r"""(?:"([^"]{0,2000})|'([^']{0,2000})|([^\s"'>]{1,2000}))""",
    re.IGNORECASE,
)
_AROUND = re.compile(r"[\s<>\"]+")
_PUNCTUATION = "()[].,;:!?'"
_INSIDE = re.compile(r"(?:cid:|mailto:|#|text/html)", re.IGNORECASE)


def other_parts(raw: bytes, body: str | None) -> str:
    r"""Return a hash of what a message has beside its plain text; empty if it has nothing.

    HTML that says what the kept ``body`` says, with no other links, is nothing.

    >>> other_parts(b"Subject: hi\n\nLunch?\n", "Lunch?\n")
    ''
    >>> html = b"Content-Type: text/html\n\n<p>Lunch?</p>"
    >>> other_parts(html, "Lunch?"), other_parts(html, "Dinner?") == ""
    ('', False)
    """
    found = sorted(_found(raw, body or ""))
    return blake2b(b"\n".join(found), digest_size=16).hexdigest() if found else ""


def _found(raw: bytes, body: str) -> Iterator[bytes]:
    raw, plain = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n"), 0
    for head, content in _segments(raw):
        fields = [(name.lower(), value.strip()) for name, value in _CONTENT.findall(head)]
        kinds = [value for name, value in fields if name == b"type"]
        kind = kinds[0].partition(b";")[0].strip().lower() if len(kinds) == 1 else b""
        attached = any(
            name == b"disposition" and not value.lower().startswith(b"inline")
            for name, value in fields
        )
        if (not kinds or kind == b"text/plain") and not attached:
            plain += len(content)
        elif kind.startswith(b"multipart/"):
            if len(content) > _PREAMBLE:
                yield _hash(b"preamble", _SPACE.sub(b"", content))
        elif kind == b"text/html" and not attached:
            yield from _found_in_html(_decoded(content, fields), body)
        else:
            names = sorted({_SPACE.sub(b"", name).strip(b'"') for name in _NAME.findall(head)})
            yield _hash(kind or b" ".join(kinds), *names, _SPACE.sub(b"", content))
    if plain > LONGEST_PLAIN:
        yield _hash(b"long", _SPACE.sub(b"", raw.partition(b"\n\n")[2] or raw))


def _segments(raw: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the unfolded headers and the bytes of each part, as any of its boundaries divide it."""
    boundaries = {first or second for first, second in _BOUNDARY.findall(raw)}
    begin = number = hyphens = 0
    found = raw.find(b"\n--") if boundaries else -1
    while found >= 0:
        if number == MOST_PARTS or hyphens == MOST_HYPHENS:
            yield b"Content-Type: rest", raw[begin:]
            return
        hyphens += 1
        end = raw.find(b"\n", found + 1)
        end = len(raw) if end < 0 else end
        line = raw[found + 3 : min(end, found + 300)].rstrip()
        if line in boundaries or line.removesuffix(b"--") in boundaries:
            yield _divided(raw[begin:found])
            number += 1
            # What follows the last part belongs to none: it begins with a blank line.
            begin = end + (line in boundaries)
        found = raw.find(b"\n--", end)
    yield _divided(raw[begin:])


def _divided(part: bytes) -> tuple[bytes, bytes]:
    blank = _BLANK.search(part)
    if blank is None:
        return _FOLD.sub(b" ", part[:LONGEST_HEADERS]), part[LONGEST_HEADERS:]
    if blank.start() > LONGEST_HEADERS:
        return b"Content-Type: unknown", part
    return _FOLD.sub(b" ", part[: blank.start()]), part[blank.end() :]


def _decoded(content: bytes, fields: list[tuple[bytes, bytes]]) -> str:
    """Return the text of a part, by the way it was encoded for transport."""
    encodings = {value.lower() for name, value in fields if name == b"transfer-encoding"}
    try:
        if encodings == {b"base64"}:
            content = a2b_base64(content)
        elif encodings == {b"quoted-printable"}:
            content = a2b_qp(content)
    except Error:
        return content.decode("latin-1")
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _found_in_html(html: str, body: str) -> Iterator[bytes]:
    """Yield the words of HTML if they are others than those of the body, and its other links."""
    try:
        text = html_text(html)
    except Exception:
        text = html  # the standard parser raises various errors at HTML made to break it
    in_html = list(words(without_footers(text)))
    if in_html != list(words(without_footers(body))):
        yield _hash(b"html", *(word.encode() for word in in_html))
    if len(html) > LONGEST_HTML:
        yield _hash(b"html", html[LONGEST_HTML:].encode())
    known = {token.strip(_PUNCTUATION) for token in _AROUND.split(body)}
    for parts in _LINK.findall(html):
        link = unescape("".join(parts)).strip()
        if link and not _INSIDE.match(link) and link.strip(_PUNCTUATION) not in known:
            yield _hash(b"link", link.encode("utf-8", "replace"))


def _hash(*values: bytes) -> bytes:
    return blake2b(b"\0".join(values), digest_size=16).digest()
