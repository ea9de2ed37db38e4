"""Addresses ``mailto:`` (RFC 6068): whom a page of the web asks to write to, and what.

Only recipients, subject and body are read.  Anybody can write such an address: one that could
attach files, or add other headers, could have people send what they do not mean to.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from tapestry.core.errors import TapestryError
from tapestry.deliver.one_line import one_line

LONGEST = 8_000
"""Characters of an address that are read."""

_SCHEME = "mailto:"


@dataclass(frozen=True, slots=True)
class Mailto:
    """The content of an address, as fields of a form: to, cc, subject and body."""

    to: str = ""
    cc: str = ""
    subject: str = ""
    body: str = ""


def read_mailto(url: str) -> Mailto:
    r"""Read an address of the scheme ``mailto``.

    >>> read_mailto("mailto:joe@x.org?subject=caf%C3%A9&body=At%20noon%0D%0A?&attach=/etc/passwd")
    Mailto(to='joe@x.org', cc='', subject='café', body='At noon\n?')

    Raise TapestryError if it is none.
    """
    if not url[: len(_SCHEME)].lower() == _SCHEME or len(url) > LONGEST:
        raise TapestryError("This is not a mailto address.", hint="One is mailto:joe@example.org.")
    path, _, query = url[len(_SCHEME) :].partition("?")
    fields: dict[str, list[str]] = {"to": [unquote(path)]} if path else {}
    for field in query.partition("#")[0].split("&"):
        name, _, value = field.partition("=")
        fields.setdefault(name.lower(), []).append(unquote(value))
    return Mailto(
        to=_addresses(fields.get("to", [])),
        cc=_addresses(fields.get("cc", [])),
        subject=one_line(" ".join(fields.get("subject", [])), 500),
        body="\n".join(fields.get("body", [])).replace("\r\n", "\n").replace("\0", ""),
    )


def _addresses(values: list[str]) -> str:
    return ", ".join(filter(None, (one_line(value, 2000) for value in values)))
