"""HTML of a mail that this site wrote, for a frame of one of its pages: it runs nothing."""

from __future__ import annotations

from django.http import HttpResponse

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'; "
    "sandbox allow-popups allow-popups-to-escape-sandbox"
)


def framed_html(html: str) -> HttpResponse:
    """Return HTML to be framed: sandboxed, without scripts or anything from elsewhere.

    Its links open beside the page.
    """
    response = HttpResponse(html.replace("<head>", '<head><base target="_blank">', 1))
    response["Content-Security-Policy"] = POLICY
    response["X-Frame-Options"] = "SAMEORIGIN"
    return response
