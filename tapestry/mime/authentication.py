"""Findings of the server that received a message: its Authentication-Results (RFC 8601)."""

from __future__ import annotations

from typing import Any

from authres import AuthenticationResultsHeader
from authres.core import AuthResError

from tapestry.mime.header_section import headers_of, values_by_name

METHODS = {"dkim": "header.d", "spf": "smtp.mailfrom", "dmarc": "header.from"}
"""The methods that are shown, and the property that names the domain."""

RESULTS = ("pass", "fail", "softfail", "neutral", "none", "policy", "temperror", "permerror")

MOST = 10
"""Results that are shown: a message may have many signatures."""

_PARSER: Any = AuthenticationResultsHeader

LONGEST = 4096
"""Characters of a field that is read; a longer one says nothing."""


def authentication_of(raw: bytes, authserv_id: str) -> tuple[str, ...]:
    r"""Return the results of a trusted server in words: of DKIM, SPF and DMARC.

    Fields are added at the top.  So only the topmost field of that server counts: those below may
    have been there when it received the message.  Nothing is returned if it cannot be read.

    >>> raw = b"Authentication-Results: mx.x.org; dkim=pass header.d=y.org; spf=fail\n\nHi"
    >>> authentication_of(raw, "mx.x.org")
    ('DKIM pass (y.org)', 'SPF fail')
    >>> authentication_of(raw, "mx.z.org")
    ()
    """
    fields = values_by_name(headers_of(raw)[0])
    for field in fields.get("authentication-results", []):
        named, _, _ = field.partition(";")
        if named.split()[:1] and named.split()[0].casefold() == authserv_id.casefold():
            return _results(field, authserv_id)
    return ()


def _results(field: str, authserv_id: str) -> tuple[str, ...]:
    if len(field) > LONGEST:
        return ()
    try:
        header = _PARSER.parse_value(field)
    except (AuthResError, RecursionError):
        return ()
    if str(header.authserv_id).casefold() != authserv_id.casefold():
        return ()
    known = [
        _words(result)
        for result in header.results
        if result.method in METHODS and result.result in RESULTS
    ]
    return tuple(known[:MOST])


def _words(result: Any) -> str:
    domains = [
        str(prop.value)
        for prop in result.properties
        if f"{prop.type}.{prop.name}" == METHODS[result.method]
    ]
    of = f" ({domains[0]})" if domains else ""
    return f"{result.method.upper()} {result.result}{of}"
