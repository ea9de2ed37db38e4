"""Responses are compressed for browsers that can read them so."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

TEXT = ("text/", "application/", "image/svg+xml")
"""Kinds of content that become shorter; pictures and such are compressed already."""


class Compression(GZipMiddleware):
    """Compresses text by gzip.

    Its length tells little of a secret in the page: Django adds random bytes (Heal the BREACH), and
    masks the CSRF token in each response.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Return the response, compressed if it is a whole text."""
        kind = response.headers.get("Content-Type", "")
        if response.status_code == 206 or not kind.startswith(TEXT):
            return response
        compressed: HttpResponseBase = super().process_response(request, response)
        return compressed
