"""The headers of every response: what a browser may load, run and tell of the pages.

Those that Django has middleware for (HSTS, the opener, the referrer, the kind of content, frames)
are settings; these are the rest.
"""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

Page = Callable[[HttpRequest], HttpResponse]

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
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
"""The content security policy (level 3): files of this site alone, of the kinds that pages have."""

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
    "publickey-credentials-create",
    "publickey-credentials-get",
    "screen-wake-lock",
    "serial",
    "storage-access",
    "usb",
    "window-management",
    "xr-spatial-tracking",
)
"""Features of browsers that no page uses; those of which browsers know no more warn in them."""

PERMISSIONS = ", ".join([*(f"{feature}=()" for feature in UNUSED), "clipboard-write=(self)"])
"""The permissions policy: all off but the clipboard, to which the button “Copy” writes."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "Permissions-Policy": PERMISSIONS,
    "Cross-Origin-Resource-Policy": "same-origin",
}


def security_headers(page: Page) -> Page:
    """Put the headers on every response, a static file or an error too, that has none of its own.

    A mail in a frame has its own policy, which lets it run nothing (filters.delivery.views.framed).
    """

    def answer(request: HttpRequest) -> HttpResponse:
        response = page(request)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    return answer
