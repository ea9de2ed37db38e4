"""Envelopes: what mail programs list of messages, as the headers have it (RFC 3501, 7.4.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email.utils import getaddresses
from typing import Any

from pymap.bytes import WriteStream
from pymap.mime import MessageHeader
from pymap.parsing.response.fetch import EnvelopeStructure

from tapestry.mime.charset import decode
from tapestry.mime.headers import LONGEST

_GROUP = re.compile(r'(?:^|(?<=[,;]))([^:;,<>@"]*):([^:;]*);')

_PEOPLE = b"from", b"sender", b"reply-to", b"to", b"cc", b"bcc"
NIL = b"NIL"


class Envelope(EnvelopeStructure):
    """The envelope of a header, with nothing decoded; searches ask it for decoded headers.

    It is written here, as pymap would parse each header by all of its grammar: ten times the work.
    """

    def __init__(self, header: MessageHeader) -> None:
        self._header = header
        values = dict(_values(header))
        people = {name: _people(values.get(name, "")) for name in _PEOPLE}
        for name in (b"sender", b"reply-to"):
            people[name] = people[b"from"] if people[name] == NIL else people[name]
        date, subject, parent, msgid = (
            string(values.get(name))
            for name in (b"date", b"subject", b"in-reply-to", b"message-id")
        )
        self._written = b"(%b)" % b" ".join([date, subject, *people.values(), parent, msgid])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._header.parsed, name)

    def write(self, writer: WriteStream) -> None:
        writer.write(self._written)

    def __bytes__(self) -> bytes:
        return self._written


def _values(header: MessageHeader) -> Iterator[tuple[bytes, str]]:
    """Yield names and values of headers, unfolded, the last first: the first of a name counts."""
    for name, line in reversed(header.folded):
        value = bytes(line).partition(b":")[2][:LONGEST]
        unfolded = value.replace(b"\r\n", b"").replace(b"\n", b"")
        yield name, decode(unfolded.strip())


def _people(value: str) -> bytes:
    """Return the addresses of a header; those of a group stand between its name and its end."""
    outside, *groups = _GROUP.split(value) if ";" in value else (value,)
    people = _mailboxes(outside)
    for name, inside, after in zip(*[iter(groups)] * 3, strict=True):
        people += [_address(name.strip(), None), *_mailboxes(inside), _address(None, None)]
        people += _mailboxes(after)
    return b"(%b)" % b"".join(people) if people else NIL


def _mailboxes(value: str) -> list[bytes]:
    written = []
    for name, address in getaddresses([value]) if value else ():
        local, _, domain = address.rpartition("@") if "@" in address else (address, "", "")
        if address:
            written.append(_address(local, domain, name or None))
    return written


def _address(local: str | None, domain: str | None, name: str | None = None) -> bytes:
    return b"(%b NIL %b %b)" % tuple(string(part) for part in (name, local, domain))


def string(value: str | None) -> bytes:
    """Return a text as a quoted string, or as a literal where it is none; NIL for None."""
    if value is None:
        return NIL
    data = value.encode("utf-8", "replace")
    if value.isascii() and value.isprintable():
        return b'"%b"' % data.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    return b"{%d}\r\n%b" % (len(data), data)
