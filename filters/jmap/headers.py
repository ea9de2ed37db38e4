"""Header fields in the forms that a program asks for (RFC 8621, 4.1.2)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from filters.jmap.protocol import MethodError
from tapestry.core.clock import format_instant
from tapestry.mime.address import mailboxes
from tapestry.mime.charset import decode
from tapestry.mime.headers import decoded, instant_of, raw_text

Fields = Sequence[tuple[str, str]]
"""The names of header fields and what follows the colon, in order."""

LONGEST = 1024 * 1024
"""Bytes of the header section of a part that are read."""

_FIELD = re.compile(rb"(?m)^([!-9;-~]++)[ \t]*+:([^\n]*+(?:\n[ \t][^\n]*+)*+)")
_ANGLE = re.compile(r"<\s*([^<>]*?)\s*>")
_GROUP = re.compile(r'(?:^|[,;])\s*([^,;:<>@"]+|"[^"]*")\s*:([^;]*)(?:;|$)')

_ADDRESSES = {
    f"{prefix}{name}"
    for prefix in ("", "resent-")
    for name in ("from", "sender", "reply-to", "to", "cc", "bcc")
}
_IDS = {"message-id", "in-reply-to", "references", "resent-message-id"}
_DATES = {"date", "resent-date"}
_TEXTS = {"subject", "comments", "keywords", "list-id"}
_URLS = {
    f"list-{name}" for name in ("help", "unsubscribe", "subscribe", "post", "owner", "archive")
}
_DEFINED = _ADDRESSES | _IDS | _DATES | (_TEXTS - {"list-id"}) | _URLS | {"return-path", "received"}
"""Names that RFC 5322 and RFC 2369 define: these have the forms that are theirs alone."""


def fields_of(raw: bytes) -> Fields:
    r"""Return the fields of a header section.

    >>> fields_of(b"Subject: a\r\n b\r\nTo:\r\n")
    [('Subject', ' a\r\n b'), ('To', '')]
    """
    return [
        (name.decode("ascii"), decode(value.replace(b"\0", b"")).rstrip("\r"))
        for name, value in _FIELD.findall(raw[:LONGEST])
    ]


def _addresses(value: str) -> list[dict[str, str | None]]:
    boxes = mailboxes(raw_text(value))
    return [{"name": box.name or None, "email": box.address} for box in boxes]


def _grouped(value: str) -> list[dict[str, Any]]:
    """Return the addresses of each group, and of what is in none."""
    text = raw_text(value)
    groups = []
    end = 0
    for found in _GROUP.finditer(text):
        groups += [(None, text[end : found.start()]), (found[1].strip(' "'), found[2])]
        end = found.end()
    groups.append((None, text[end:]))
    named = [(name and decoded(name), _addresses(part)) for name, part in groups]
    return [
        {"name": name, "addresses": addresses} for name, addresses in named if name or addresses
    ]


def _text(value: str) -> str:
    return unicodedata.normalize("NFC", decoded(raw_text(value)))


def _angles(value: str) -> list[str] | None:
    return [text for text in _ANGLE.findall(raw_text(value)) if text] or None


def _date(value: str) -> str | None:
    instant = instant_of(raw_text(value))
    return None if instant is None else moment(instant)


def moment(instant: int) -> str:
    """Return an instant as RFC 3339 has it, in whole seconds."""
    return format_instant(instant)[:19] + "Z"


_FORMS: dict[str, tuple[Callable[[str], Any], set[str] | None]] = {
    "asRaw": (lambda value: value, None),
    "asText": (_text, _TEXTS),
    "asAddresses": (_addresses, _ADDRESSES),
    "asGroupedAddresses": (_grouped, _ADDRESSES),
    "asMessageIds": (_angles, _IDS),
    "asDate": (_date, _DATES),
    "asURLs": (_angles, _URLS),
}
"""How a value is read in a form, and which of the defined fields have it; None if all do."""


@dataclass(frozen=True, slots=True)
class HeaderProperty:
    """A property ``header:NAME``, with a form, and perhaps of all fields of this name."""

    name: str
    form: str = "asRaw"
    all: bool = False

    def value(self, fields: Fields) -> Any:
        """Return its value: None, or an empty list, where there is no such field."""
        read = _FORMS[self.form][0]
        found = [value for name, value in fields if name.lower() == self.name]
        if self.all:
            return [read(value) for value in found]
        return read(found[-1]) if found else None


def header_property(text: str) -> HeaderProperty:
    """Return the property that a text names; MethodError if it names none.

    >>> header_property("header:List-Id:asText:all")
    HeaderProperty(name='list-id', form='asText', all=True)
    """
    prefix, _, rest = text.partition(":")
    name, *others = rest.lower().split(":")
    is_all = others[-1:] == ["all"]
    forms = {form.lower(): form for form in _FORMS}
    words = others[:-1] if is_all else others
    form = forms.get(words[0], "") if words else "asRaw"
    if prefix != "header" or not name or len(words) > 1 or not form:
        raise MethodError("invalidArguments", f"“{text[:100]}” is no property.")
    own = _FORMS[form][1]
    if own is not None and name in _DEFINED and name not in own:
        raise MethodError("invalidArguments", f"“{name}” has no form {form}.")
    return HeaderProperty(name, form, is_all)
