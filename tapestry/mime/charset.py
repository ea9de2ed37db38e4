"""Bytes to text, when the charset that is declared may be missing, unknown or a lie."""

from __future__ import annotations

import codecs
import re

_LATIN = {"ascii", "iso8859-1", "iso8859-15", "cp1252"}
_OTHER_NAMES = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "ks_c_5601-1987": "cp949",
    "ks_c_5601": "cp949",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "iso-8859-8-i": "iso-8859-8",
    "iso-8859-8-e": "iso-8859-8",
    "iso-2022-jp": "iso2022_jp_2",
    "windows-874": "cp874",
}
MOST_FAULTS = 2
"""Characters of UTF-8 that outweigh a byte that is of none, where no charset is told."""

_WINDOWS = re.compile(rb"[\x80-\x9f]")
_NOT_CHARSETS = {"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined"}


def decode(data: bytes, declared: str | None = None) -> str:
    r"""Return the text of some bytes: as declared, else as UTF-8, else as Windows Latin.

    A declared Latin charset gives way to UTF-8 where the bytes are UTF-8 beyond ASCII: programs
    that convert mail and forget the label are far more common than texts that mean such
    sequences.  Never raises; undecodable bytes become U+FFFD.

    >>> decode("naïve".encode(), "iso-8859-1"), decode(b"na\xefve", "utf-8")
    ('naïve', 'naïve')
    >>> decode(b"5 \xa4", "iso-8859-15"), decode(b"5 \x80", "iso-8859-15")
    ('5 €', '5 €')
    """
    if data.isascii() and b"\x1b" not in data and declared is None:
        return data.decode("ascii")
    codec = _codec(declared)
    if codec and codec.startswith(("utf-16", "utf-32")) and data.isascii() and 0 not in data:
        codec = None
    if codec is None or codec in _LATIN:
        return _strictly(data, "utf-8") or _mostly_utf_8(data) or _latin(data, codec)
    text = _strictly(data, codec)
    if text is None and not data.isascii():
        text = _strictly(data, "utf-8")
    if text is not None:
        return text
    lenient = data.decode(codec, "replace")
    wrong = lenient.count("�")
    right = sum(character > "\x7f" for character in lenient) - wrong
    return lenient if right >= wrong or data.isascii() else _latin(data)


def _codec(declared: str | None) -> str | None:
    """Return Python's name of a charset, None if it names none that text could be in."""
    if not declared:
        return None
    name = declared.strip(" \t\"'").split("*")[0].lower()
    try:
        codec = codecs.lookup(_OTHER_NAMES.get(name, name)).name
        b"\0".decode(codec, "ignore")  # base64 and its like are codecs, but of no text
    except (LookupError, ValueError):
        return None
    return None if codec.replace("-", "_") in _NOT_CHARSETS else _OTHER_NAMES.get(codec, codec)


def _strictly(data: bytes, codec: str) -> str | None:
    try:
        return data.decode(codec)
    except ValueError:
        return None


def _mostly_utf_8(data: bytes) -> str | None:
    r"""Return text of UTF-8 with few faults, such as one that was cut within a character.

    >>> decode("größer, schöner".encode() + b"\xc3"), decode(b"gr\xf6\xdfer, sch\xf6ner")
    ('größer, schöner�', 'größer, schöner')
    """
    text = data.decode("utf-8", "replace")
    wrong = text.count("�")
    right = len(text) - len(text.encode("ascii", "ignore")) - wrong
    return text if right > MOST_FAULTS * wrong else None


def _latin(data: bytes, codec: str | None = None) -> str:
    """Return text of a Latin charset: Latin-9 has the euro sign elsewhere, and no 0x80 to 0x9F."""
    if codec == "iso8859-15" and not _WINDOWS.search(data):
        return data.decode(codec)
    return _strictly(data, "cp1252") or data.decode("latin-1")
