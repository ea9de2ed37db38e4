"""The headers of every response: what a browser may load, run and tell of the pages.

Those that Django has middleware for (HSTS, the opener, the referrer, the kind of content, frames)
are settings; these are the rest.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse

from filters.site.web.static_files import import_map

Page = Callable[[HttpRequest], HttpResponse]

_IMPORTS = f"sha256-{b64encode(sha256(import_map().encode()).digest()).decode()}"

POLICY = "; ".join(
    (
        "default-src 'none'",
        f"script-src 'self' '{_IMPORTS}'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "frame-src 'self'",
        "manifest-src 'self'",
        "worker-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""The content security policy (level 3): files of this site alone, of the kinds that pages have.

The import map is the one script that stands in the pages; it is allowed by its hash.
"""

UNUSED = (
    "accelerometer",
    "autoplay",
    "camera",
    "clipboard-read",
    "display-capture",
    "encrypted-media",
    "fullscreen",
    "geolocation",
    "gyroscope",
    "hid",
    "idle-detection",
    "keyboard-map",
    "local-fonts",
    "magnetometer",
    "microphone",
    "midi",
    "payment",
    "picture-in-picture",
    "screen-wake-lock",
    "serial",
    "storage-access",
    "usb",
    "window-management",
    "xr-spatial-tracking",
)
"""Features of browsers that no page uses; those of which browsers know no more warn in them."""

USED = ("clipboard-write", "publickey-credentials-create", "publickey-credentials-get")
"""Those that pages of this site use: the button “Copy”, and passkeys."""

PERMISSIONS = ", ".join(
    [*(f"{feature}=()" for feature in UNUSED), *(f"{feature}=(self)" for feature in USED)]
)
"""The permissions policy: all off but what is used, and that for this site alone."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "Permissions-Policy": PERMISSIONS,
    "Cross-Origin-Resource-Policy": "same-origin",
}


def of_every_answer(page: Page) -> Page:
    """Put the headers on every response, a static file or an error too, that has none of its own.

    A mail in a frame has its own policy, which lets it run nothing (filters.delivery.views.framed).
    HEAD is answered with the headers of GET, its length too, and nothing else (RFC 9110, section
    9.3.2); waitress leaves that to the site.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        response = page(request)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        if request.method == "HEAD":
            _empty(response)
        return response

    return answer


def _empty(response: HttpResponse) -> None:
    if isinstance(response, StreamingHttpResponse):
        response.close()
        response.streaming_content = iter(())
    else:
        response.headers.setdefault("Content-Length", str(len(response.content)))
        response.content = b""
