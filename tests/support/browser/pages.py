"""Pages without the white space of their layout: as a browser takes them, in one line."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from django.http import HttpResponse
from django.test import Client

_BLOCKS = (
    "p|div|h[1-6]|form|main|li|table|thead|tbody|tr|t[dh]|[uod]l|d[td]|section|article|nav|header"
    "|footer|details|summary|figure|figcaption|fieldset|legend|dialog|noscript|svg|option|select"
    "|pre|title|link|meta|script|head|body|html"
)
_VERBATIM = re.compile(
    r"<(pre|textarea|script)\b.*?</\1>|<(div|span) class=\"(?:lines|text)\".*?</\2>", re.DOTALL
)
_BROKEN_TAG = re.compile(r"<[^>\n]*\n[^>]*>")
_AFTER = re.compile(rf"(</?(?:{_BLOCKS})\b[^>]*>|<(?!input|br|img)[a-z][^>]*>)\s*\n\s*")
_BEFORE = re.compile(rf"\s*\n\s*(</?(?:{_BLOCKS})\b|</)")
_BREAK = re.compile(r"\s*\n\s*")


def in_one_line(page: str) -> str:
    """Return a page without line breaks, and without white space that shows nothing."""
    places = [(0, 0), *(part.span() for part in _VERBATIM.finditer(page)), (len(page), len(page))]
    parts = []
    for (start, end), (following, _) in pairwise(places):
        parts += [page[start:end], _joined(page[end:following])]
    return "".join(parts)


def _joined(part: str) -> str:
    part = _BROKEN_TAG.sub(lambda tag: _BREAK.sub(" ", tag[0]), part)
    return _BREAK.sub(" ", _BEFORE.sub(r"\1", _AFTER.sub(r"\1", part)))


class Browser(Client):
    """A client whose pages are in one line each."""

    def request(self, **request: Any) -> Any:
        """Return the answer to a request."""
        response = super().request(**request)
        kind = response.headers.get("Content-Type", "")
        if isinstance(response, HttpResponse) and kind.startswith("text/html"):
            response.content = in_one_line(response.content.decode()).encode()
        return response
