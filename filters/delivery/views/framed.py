"""HTML of a mail that this site wrote, for a frame of one of its pages: it runs nothing."""

from __future__ import annotations

from django.http import HttpResponse

from filters.reading.rendering.html import policy

POLICY = policy()


def framed_html(html: str) -> HttpResponse:
    """Return HTML to be framed: sandboxed, without scripts or anything from elsewhere.

    Its links open beside the page.
    """
    response = HttpResponse(html.replace("<head>", '<head><base target="_blank">', 1))
    response["Content-Security-Policy"] = POLICY
    response["X-Frame-Options"] = "SAMEORIGIN"
    return response
