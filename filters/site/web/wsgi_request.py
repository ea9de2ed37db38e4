"""A request as the web server hands it over, whatever its Content-Type says."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.core.handlers.wsgi import WSGIRequest


class Request(WSGIRequest):
    """Read forms as UTF-8, as browsers write them (URL Standard, section 5).

    Django would read them in any codec of Python, some of which give no text, and fails before
    all middleware at a parameter in a charset that it does not know.
    """

    def __init__(self, environ: dict[str, Any]) -> None:
        try:
            super().__init__(environ)
            self.encoding = "utf-8"
        except (ValueError, LookupError, SuspiciousOperation):
            # What is wrong with its parameters is found, and answered, behind the middleware.
            super().__init__(environ | {"CONTENT_TYPE": ""})
            self._encoding = "utf-8"
