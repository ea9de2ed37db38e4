"""Addresses of pages and mailboxes in text become links; all else is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from linkify_it.main import LinkifyIt

LONGEST = 4000
"""Characters of the longest address, and of the text that is searched at once."""

_PAGE = '<a href="{}" rel="noopener noreferrer nofollow" target="_blank">{}</a>'
_MAILBOX = '<a href="{}" rel="noopener noreferrer">{}</a>'
_TEMPLATES = {"http:": _PAGE, "https:": _PAGE, "mailto:": _MAILBOX}
_BLANK = re.compile(r"\s")


def _finder() -> Any:
    """Return a finder of addresses that say what they are, and of mailboxes."""
    finder = LinkifyIt(options={"fuzzy_link": False, "fuzzy_email": True, "fuzzy_ip": False})
    return finder.add("ftp:", None).add("//", None)


FINDER = _finder()


def linked(text: str) -> SafeString:
    """Return text as HTML: escaped, with links to http, https and mailto alone.

    >>> linked("<b> https://x.org/?a&b.").partition(" rel=")[0]
    '&lt;b&gt; <a href="https://x.org/?a&amp;b"'
    """
    pieces: list[str] = []
    for piece in _pieces(text):
        at = 0
        for link in FINDER.match(piece) or () if _may_have_links(piece) else ():
            template = _TEMPLATES.get(link.schema)
            if template is not None and len(link.url) <= LONGEST:
                pieces += escape(piece[at : link.index]), format_html(template, link.url, link.text)
                at = link.last_index
        pieces.append(escape(piece[at:]))
    return mark_safe("".join(pieces))  # every piece has been escaped


def _may_have_links(piece: str) -> bool:
    return "@" in piece or ":" in piece


def _pieces(text: str) -> Iterator[str]:
    """Cut text between words into pieces: the time to search one is not linear in its length."""
    begin = 0
    while len(text) - begin > LONGEST:
        end = begin + LONGEST
        while end > begin and not _BLANK.match(text, end):
            end -= 1
        end = end if end > begin else begin + LONGEST
        yield text[begin:end]
        begin = end
    yield text[begin:]
