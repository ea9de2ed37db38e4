"""Filters as Gmail exports them."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

FEED = """<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns='http://www.w3.org/2005/Atom' xmlns:apps='http://schemas.google.com/apps/2006'>
<title>Mail Filters</title>%s</feed>"""


def gmail(**properties: str) -> bytes:
    """Return a file of one filter with these properties."""
    lines = (
        f"<apps:property name={quoteattr(name)} value={quoteattr(value)}/>"
        for name, value in properties.items()
    )
    return (FEED % f"<entry>{''.join(lines)}</entry>").encode()
