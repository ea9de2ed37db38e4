"""The headers of every response: what a browser may load, run and tell of the pages.

Those that Django has middleware for (HSTS, the opener, the referrer, the kind of content, frames)
are settings; these are the rest.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
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


def of_every_answer() -> dict[str, str]:
    """Return all headers that an answer of this site has, with those that are settings of Django.

    HSTS is among them where the site has an https address, however the request came: a browser
    heeds it over TLS alone (RFC 6797, section 8.1).
    """
    headers = HEADERS | {
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": str(settings.X_FRAME_OPTIONS),
        "Referrer-Policy": str(settings.SECURE_REFERRER_POLICY),
        "Cross-Origin-Opener-Policy": str(settings.SECURE_CROSS_ORIGIN_OPENER_POLICY),
    }
    if settings.SECURE_HSTS_SECONDS:
        headers["Strict-Transport-Security"] = f"max-age={settings.SECURE_HSTS_SECONDS}"
    return headers


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
