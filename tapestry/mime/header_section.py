"""The header section of a message or a part (RFC 5322, section 2.1), with bounds on its length.

Mail made to cost hours is a few bytes a header.  What is beyond a bound is passed over, and said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from email.message import Message as Headers
from email.parser import BytesHeaderParser
from email.policy import Compat32

from tapestry.mime.headers import raw_text
from tapestry.mime.problems import NO_SEPARATOR, in_words

MOST_LINES = 50_000
"""Lines of headers that are read, of a message and its parts together."""

LONGEST_FIELD = 64 * 1024
"""Bytes of a header field that are read, with its name."""

LONGEST = 4 * 1024 * 1024
"""Bytes of headers that are read, of a message and its parts together."""

LARGEST_HEAD = 8 * 1024 * 1024
"""Bytes at the beginning of a message in which its headers are, where nothing else is read."""

LONGEST_PARAMETERS, MOST_PARAMETERS = 8 * 1024, 100
"""Characters, and parameters, of a header that says what a part is; real ones have few."""

TOO_MANY_LINES = f"more than {MOST_LINES:,} header lines: the rest is not read"
TOO_LONG_FIELD = f"a header of more than {LONGEST_FIELD:,} characters: its end is not read"
TOO_LONG = f"more than {LONGEST:,} characters of headers: the rest is not read"
BOUNDS = frozenset((TOO_MANY_LINES, TOO_LONG_FIELD, TOO_LONG))
"""The problems of headers of which not all is read."""

LINE_END = rb"(?:\r\n?|\n|\Z)"
_HEADERS = re.compile(rb"(?:(?:[\t ]|[!-9;-~]*+[\t ]*+:|From )[^\r\n]*+%s)*+" % LINE_END)
_FIELD = re.compile(rb"[^\r\n]*+%s(?:[\t ][^\r\n]*+%s)*+" % (LINE_END, LINE_END))
_OBSOLETE_NAME = re.compile(rb"([!-9;-~]++)[\t ]++:")
"""A name with white space behind it, which is to be read (RFC 5322, section 4.5)."""
_BLANK = re.compile(rb"\r\n?|\n")


class _Policy(Compat32):
    """Cuts the headers that have parameters: they are searched anew from each semicolon."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        if name[:8].lower() == "content-":
            value = value[:LONGEST_PARAMETERS]
            value = ";".join(value.split(";", MOST_PARAMETERS)[:MOST_PARAMETERS])
        return name, value


_PARSER = BytesHeaderParser(policy=_Policy())


@dataclass(slots=True)
class HeaderReader:
    """Reads the headers of a message and its parts, as many as the bounds allow in all."""

    lines: int = field(default=MOST_LINES, init=False)
    length: int = field(default=LONGEST, init=False)

    def read(self, raw: bytes, begin: int, end: int) -> tuple[Headers, int, list[str]]:
        """Read the headers at an offset; return also where the content begins, and problems."""
        found = _HEADERS.match(raw, begin, end)
        content = found.end() if found else begin
        fields, problems = self._fields(raw, begin, content)
        if len(fields) > 1 and fields[-1].startswith(b"From ") and content < end:
            content -= len(fields.pop())  # of an mbox that was cut in the wrong place
        headers = _PARSER.parsebytes(b"".join(fields))
        problems += in_words(headers.defects)
        blank = _BLANK.match(raw, content, end)
        if blank:
            content = blank.end()
        elif content < end:
            problems.append(NO_SEPARATOR)
        return headers, content, problems

    def _fields(self, raw: bytes, begin: int, end: int) -> tuple[list[bytes], list[str]]:
        """Return the fields between two offsets, and in words the bounds that they exceed."""
        fields: list[bytes] = []
        exceeded: dict[str, None] = {}
        while begin < end:
            found = _FIELD.match(raw, begin, end)
            text = found[0] if found else b""
            begin += len(text)
            self.lines -= len(text.splitlines())
            if len(text) > LONGEST_FIELD:
                exceeded[TOO_LONG_FIELD] = None
                text = text[: LONGEST_FIELD - 1].rstrip(b"\r\n") + b"\n"
            self.length -= len(text)
            if self.lines < 0 or self.length < 0:
                exceeded[TOO_MANY_LINES if self.lines < 0 else TOO_LONG] = None
                break
            name = _OBSOLETE_NAME.match(text)
            fields.append(name[1] + text[name.end() - 1 :] if name else text)
        return fields, list(exceeded)


def headers_of(raw: bytes) -> tuple[Headers, list[str]]:
    """Return the headers of a message, and in words what is wrong with them."""
    headers, _, problems = HeaderReader().read(raw, 0, min(len(raw), LARGEST_HEAD))
    return headers, problems


def values_by_name(headers: Headers) -> dict[str, list[str]]:
    r"""Return the unfolded values of headers by their names in lower case.

    >>> values_by_name(headers_of(b"To: joe@x.org,\n mary@x.org\n\nHello")[0])
    {'to': ['joe@x.org, mary@x.org']}
    >>> values_by_name(headers_of(b"Subject : obsolete\n\nHello")[0])
    {'subject': ['obsolete']}
    """
    values: dict[str, list[str]] = {}
    for name, value in headers.raw_items():
        values.setdefault(name.strip().lower(), []).append(raw_text(str(value)))
    return values
