"""Parts of a message beside the plain text that is kept of it: HTML, attachments, links.

Copies of one message are compared by it (tapestry.identity.content).  Everything counts that is
not plain text for certain, so what is not understood makes messages different, never the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b
from html import unescape
from string import whitespace

from tapestry.core.message import LONGEST_TEXT
from tapestry.identity.content import words
from tapestry.identity.list_footers import without_footers
from tapestry.mime.html_text import LONGEST as LONGEST_HTML
from tapestry.mime.html_text import html_text
from tapestry.mime.sections import BOUNDS, Section, sections

_PREAMBLE = 200
"""Bytes before the first part that nobody is shown: “This is a multi-part message …”."""

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
    others = sorted(_others(raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n"), body or ""))
    return blake2b(b"\n".join(others), digest_size=16).hexdigest() if others else ""


def _others(raw: bytes, body: str) -> Iterator[bytes]:
    plain = passed = 0
    opened: int | None = None
    for section in sections(raw):
        preamble = raw[section.start if opened is None else opened : section.start]
        preamble = preamble.rstrip().rpartition(b"\n")[0]  # the delimiter is no part of it
        if len(preamble) > _PREAMBLE:
            yield _hash(b"preamble", _squeezed(preamble))
        opened = section.begin if section.is_multipart else None
        if BOUNDS.intersection(section.problems):
            yield _hash(b"rest", _squeezed(raw[section.start or section.begin :]))
        kind = _kind(section)
        if section.start < passed or (section.is_multipart and kind == section.kind):
            continue
        if kind == "text/plain":
            plain += section.end - section.begin
        elif kind == "text/html":
            yield from _others_in_html(section.text(raw, len(raw)), body)
        else:
            head = _FOLD.sub(b" ", raw[section.start : section.begin])
            names = sorted({_squeezed(name).strip(b'"') for name in _NAME.findall(head)})
            content = _squeezed(raw[section.begin : section.end])
            yield _hash(kind.encode("utf-8", "surrogateescape"), *names, content)
            passed = section.end  # of a message, whose parts follow
    if plain > LONGEST_TEXT:
        yield _hash(b"long", _squeezed(raw.partition(b"\n\n")[2] or raw))


def _kind(section: Section) -> str:
    """Return the media type that a part names, in more words where it is not all."""
    values = section.headers.get_all("Content-Type", ["text/plain"])
    kinds = [str(value).partition(";")[0].strip().lower() for value in values]
    places = section.headers.get_all("Content-Disposition", [])
    if any(not str(place).strip().lower().startswith("inline") for place in places):
        kinds.append("attached")
    return " ".join(kinds)


def _others_in_html(html: str, body: str) -> Iterator[bytes]:
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


def _squeezed(data: bytes) -> bytes:
    """Return bytes without white space, as transport and lists change it."""
    return data.translate(None, whitespace.encode())
