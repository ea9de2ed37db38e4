"""The parts of a message, and its structure, as mail programs ask for them (RFC 3501, 7.4.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from email.headerregistry import ContentTypeHeader, HeaderRegistry
from typing import Any

from pymap.bytes import Writeable
from pymap.mime import MessageBody, MessageContent, MessageHeader
from pymap.mime.cte import MessageDecoder
from pymap.parsing.primitives import List
from pymap.parsing.response.fetch import BodyStructure

from filters.imap.envelope import NIL, Envelope, string
from tapestry.mime.charset import decode
from tapestry.mime.transfer_encoding import undo

Lines = Sequence[tuple[int, int, int]]
"""Of each line where it begins, where it ends, and where the next begins."""


class Part(MessageContent):
    """A message, or a part: the line end before a boundary belongs to that (RFC 2046, 5.1.1)."""

    __slots__ = ()

    @property
    def is_rfc822(self) -> bool:
        return bool(self.body.content_type.content_type == "message/rfc822")

    @classmethod
    def head(cls, data: bytes) -> MessageContent:
        """Return a message without its body, which is not parsed."""
        lines, _ = cls._split_lines(data, cls._find_lines(data))
        return cls(data, MessageHeader._parse(data, memoryview(data), lines), _NO_BODY)

    @classmethod
    def _parse(
        cls,
        data: bytes,
        view: memoryview,
        lines: Lines,
        otherwise: ContentTypeHeader | None = None,
    ) -> MessageContent:
        """Return a message or a part; ``otherwise`` is its type if its header has none."""
        header_lines, body_lines = cls._split_lines(data, lines)
        header = MessageHeader._parse(data, view, header_lines)
        kind = header.parsed.content_type or otherwise
        return cls(data, header, _Body._parse(data, view, body_lines, kind))


class _Body(MessageBody):
    __slots__ = ()

    @classmethod
    def _parse_rfc822(
        cls, data: bytes, view: memoryview, lines: Lines, content_type: ContentTypeHeader
    ) -> MessageBody:
        return cls(data, lines, content_type, [Part._parse(data, view, lines)])

    @classmethod
    def _find_parts(
        cls, data: bytes, view: memoryview, lines: Lines, boundary: bytes
    ) -> list[list[tuple[int, int, int]]]:
        """Return the lines of each part; blanks may follow a boundary (RFC 2046, 5.1.1)."""
        begin, parts = b"--" + boundary, list[list[tuple[int, int, int]]]()
        for line in lines:
            text = bytes(view[line[0] : line[1]]).rstrip(b" \t")
            if text == begin + b"--":
                break
            if text == begin:
                parts.append([])
            elif parts:
                parts[-1].append(line)
        return parts

    @classmethod
    def _parse_multipart(
        cls,
        data: bytes,
        view: memoryview,
        lines: Lines,
        content_type: ContentTypeHeader,
        boundary: bytes,
    ) -> MessageBody:
        parts = [
            [*part[:-1], (part[-1][0], part[-1][1], part[-1][1])] if part else []
            for part in cls._find_parts(data, view, lines, boundary)
        ]
        # Of a digest each part is a message (RFC 2046, 5.1.5).
        kind = _MESSAGE if content_type.subtype == "digest" else None
        inner = [Part._parse(data, view, part, kind) for part in parts]
        return cls(data, lines, content_type, inner)


class _Decoder(MessageDecoder):
    """Decodes as the pages do: what cannot be decoded is left out (pymap raises an error)."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding

    def decode(self, body: MessageBody) -> Writeable:
        return Writeable.wrap(undo(bytes(body), self._encoding)[0])


MessageDecoder.registry |= {name: _Decoder(name) for name in ("base64", "binary")}

_NO_BODY = _Body.empty()
_MESSAGE: Any = HeaderRegistry()("Content-Type", "message/rfc822")


def part_at(message: MessageContent, section: Sequence[int]) -> MessageContent:
    """Return a part by its numbers; those within an attached message are as in that message."""
    part = message
    for depth, number in enumerate(section):
        whole = part.body.nested[0] if depth and part.is_rfc822 else part
        if whole.body.content_type.maintype == "multipart":
            part = whole.body.nested[number - 1]
        elif number == 1:
            part = whole
        else:
            raise IndexError(number)
    return part


def texts(message: MessageContent) -> Iterator[str]:
    """Yield the texts of a message, decoded, and the headers of its parts."""
    for part in message.walk():
        if part is not message:
            yield decode(bytes(part.header))
        kind = part.body.content_type
        if kind.maintype == "text":
            encoding = str(part.header.parsed.content_transfer_encoding or "").lower()
            yield decode(undo(bytes(part.body), encoding)[0], kind.params.get("charset"))


class Structure(BodyStructure):
    """The structure of a message, with its extension data too; sizes are those of the bodies."""

    def __init__(self, part: MessageContent) -> None:
        self._short, self._long = (List(_fields(part, more)) for more in (False, True))

    @property
    def _value(self) -> List:
        return self._short

    @property
    def extended(self) -> List:
        return self._long


def _structure(part: MessageContent, more: bool) -> bytes:
    return b"(%b)" % b" ".join(_fields(part, more))


def _fields(part: MessageContent, more: bool) -> list[bytes]:
    header, kind = part.header.parsed, part.body.content_type
    disposition = header.content_disposition
    placed = NIL
    if disposition is not None:
        name = string(disposition.content_disposition)
        placed = b"(%b %b)" % (name, _parameters(disposition.params))
    others = [_text(header.content_language), _text(header.content_location)]
    own = _parameters(kind.params)
    if kind.maintype == "multipart" and part.body.has_nested:
        within = b"".join(_structure(inner, more) for inner in part.body.nested)
        return [within, string(kind.subtype), *([own, placed, *others] if more else [])]
    described = [_text(header.content_id), _text(header.content_description)]
    encoding = string(str(header.content_transfer_encoding or "7BIT"))
    size, lines = b"%d" % len(part.body), b"%d" % bytes(part.body).count(b"\n")
    fields = [string(kind.maintype), string(kind.subtype), own, *described, encoding, size]
    if part.body.has_nested:
        (message,) = part.body.nested
        fields += [bytes(Envelope(message.header)), _structure(message, more), lines]
    elif kind.maintype == "text":
        fields.append(lines)
    return [*fields, *([NIL, placed, *others] if more else [])]


def _parameters(named: Mapping[str, str]) -> bytes:
    pairs = [b"%b %b" % (string(name), string(value)) for name, value in named.items()]
    return b"(%b)" % b" ".join(pairs) if pairs else NIL


def _text(header: object | None) -> bytes:
    return NIL if header is None else string(str(header))
