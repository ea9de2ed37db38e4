"""The parts of a message as JMAP has them (RFC 8621, 4.1.4): a tree, bodies, attachments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from filters.jmap.headers import Fields, fields_of, header_property
from filters.jmap.protocol import MethodError
from tapestry.mime.attachment import file_name
from tapestry.mime.sections import Section, sections

LONGEST_VALUE = 4 * 1024 * 1024
"""Bytes of a text that are given."""

MOST_PARTS = 1000
"""Parts of a message that are told."""

_SHOWN = ("image/", "audio/", "video/")
_PLAIN, _HTML = "text/plain", "text/html"

DEFAULT = (
    *("partId", "blobId", "size", "name", "type", "charset", "disposition", "cid"),
    *("language", "location"),
)
PROPERTIES = {*DEFAULT, "headers", "subParts"}


@dataclass(slots=True)
class Part:
    """A part, and the parts within it if it is a multipart."""

    section: Section
    raw: bytes = field(repr=False)
    blob: str = ""
    inner: list[Part] = field(default_factory=list)

    @property
    def disposition(self) -> str | None:
        return self.section.headers.get_content_disposition()

    @property
    def fields(self) -> Fields:
        return fields_of(self.raw[self.section.start : self.section.begin])

    @property
    def name(self) -> str | None:
        return file_name(self.section.headers) or None

    def leaves(self) -> Iterator[Part]:
        """Yield the parts that are no multipart, in order."""
        waiting = [self]
        while waiting:
            part = waiting.pop()
            if not part.section.is_multipart:
                yield part
            waiting += reversed(part.inner)

    def values(self, names: Sequence[str]) -> dict[str, Any]:
        """Return properties of the part; of those within it, too, where ``subParts`` is named."""
        return {name: self._value(name, names) for name in names}

    def _value(self, name: str, names: Sequence[str]) -> Any:
        section, headers = self.section, self.section.headers
        is_multipart = section.is_multipart
        match name:
            case "partId":
                return None if is_multipart else section.number
            case "blobId":
                dashed = section.number.replace(".", "-")
                return None if is_multipart else f"{self.blob}{dashed}"
            case "size":
                return 0 if is_multipart else len(section.content(self.raw))
            case "name":
                return self.name
            case "type":
                return section.kind
            case "charset":
                is_text = section.kind.startswith("text/")
                return (section.parameter("charset") or "us-ascii") if is_text else None
            case "disposition":
                return self.disposition
            case "cid":
                return section.content_id or None
            case "language":
                words = str(headers.get("Content-Language", "")).replace(",", " ").split()
                return words or None
            case "location":
                return str(headers.get("Content-Location", "")).strip() or None
            case "headers":
                return [{"name": name, "value": value} for name, value in self.fields]
            case "subParts":
                return [part.values(names) for part in self.inner] if is_multipart else None
        return header_property(name).value(self.fields)


def check_names(names: Sequence[str]) -> None:
    """Raise MethodError for what is no property of a part."""
    for name in names:
        if name not in PROPERTIES:
            header_property(name)


def structure(raw: bytes, blob: str) -> Part:
    """Return the tree of a message; ``blob`` is with what ids of its parts begin."""
    outer: dict[str, Part] = {}
    root: Part | None = None
    for section in islice(sections(raw), MOST_PARTS):
        if section.is_of_mail:
            continue
        part = Part(section, raw, blob)
        if root is None:
            root = part
        else:
            outer[section.number.rpartition(".")[0]].inner.append(part)
        if section.is_multipart:
            outer[section.number] = part
    if root is None:
        raise MethodError("serverFail")
    return root


def part_of(raw: bytes, number: str) -> Section | None:
    """Return the part of a number that a blob id names; None if there is none."""
    leaves = structure(raw, "").leaves()
    return next((part.section for part in leaves if part.section.number == number), None)


@dataclass(slots=True)
class Bodies:
    """What to show of a message as text or as HTML, and its attachments."""

    text: list[Part] = field(default_factory=list)
    html: list[Part] = field(default_factory=list)
    attachments: list[Part] = field(default_factory=list)


def bodies_of(root: Part) -> Bodies:
    """Sort the parts of a message, as RFC 8621 proposes."""
    bodies = Bodies()
    _sort([root], "mixed", False, bodies.text, bodies.html, bodies.attachments)
    return bodies


def _sort(
    parts: Sequence[Part],
    around: str,
    in_alternative: bool,
    text: list[Part] | None,
    html: list[Part] | None,
    attachments: list[Part],
) -> None:
    """Sort parts of a multipart; ``text`` or ``html`` is None where the other has its own form."""
    texts, htmls = len(text or ()), len(html or ())
    for number, part in enumerate(parts):
        kind = part.section.kind
        if part.section.is_multipart:
            inner = kind.partition("/")[2]
            is_choice = in_alternative or inner == "alternative"
            _sort(part.inner, inner, is_choice, text, html, attachments)
        elif not _is_inline(part, number, around):
            attachments.append(part)
        elif around == "alternative":
            chosen = {_PLAIN: text, _HTML: html}.get(kind, attachments)
            if chosen is not None:
                chosen.append(part)
        else:
            if in_alternative:
                html = None if kind == _PLAIN else html
                text = None if kind == _HTML else text
            for body in (text, html):
                if body is not None:
                    body.append(part)
            if (text is None or html is None) and kind.startswith(_SHOWN):
                attachments.append(part)
    if around == "alternative" and text is not None and html is not None:
        if len(text) == texts:
            text += html[htmls:]
        elif len(html) == htmls:
            html += text[texts:]


def _is_inline(part: Part, number: int, around: str) -> bool:
    kind = part.section.kind
    if part.disposition == "attachment" or not (kind in (_PLAIN, _HTML) or kind.startswith(_SHOWN)):
        return False
    is_shown = kind.startswith(_SHOWN) or part.name is None
    return number == 0 or (around != "related" and is_shown)


def body_value(part: Part, most: int) -> dict[str, Any]:
    """Return the text of a part, of at most so many bytes unless ``most`` is 0."""
    text, problems = part.section.read_text(part.raw, LONGEST_VALUE)
    most = most or LONGEST_VALUE
    data = text.encode("utf-8", "replace")
    is_cut = len(data) > most or len(data) >= LONGEST_VALUE
    if is_cut:
        text = data[:most].decode("utf-8", "ignore")
        if part.section.kind == _HTML and text.rfind("<") > text.rfind(">"):
            text = text[: text.rfind("<")]
    return {
        "value": text,
        "isEncodingProblem": bool(problems) or "�" in text,
        "isTruncated": is_cut,
    }
