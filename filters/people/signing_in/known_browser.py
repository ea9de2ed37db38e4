"""A browser in which somebody has signed in: it is counted by itself.

So a stranger who fails at a name again and again does not lock its owner out of their browser
(OWASP calls it a device cookie).  The cookie has a digest of the account's name, and a random
name of the browser.
"""

from __future__ import annotations

import secrets

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare

COOKIE = "tapestry_browser"
SALT = "filters.people.signing_in"
YEAR = 365 * 24 * 60 * 60


def known_browser(request: HttpRequest, account: str) -> str | None:
    """Return the name of a browser that knows an account, given as its digest; else None."""
    value = request.get_signed_cookie(COOKIE, default="", salt=SALT, max_age=YEAR) or ""
    known, _, browser = value.partition(".")
    return browser if browser and constant_time_compare(known, account) else None


def remember(request: HttpRequest, response: HttpResponse, account: str) -> None:
    """Let the browser know an account for a year; it keeps its name if it does already."""
    browser = known_browser(request, account) or secrets.token_hex(16)
    response.set_signed_cookie(
        COOKIE,
        f"{account}.{browser}",
        salt=SALT,
        max_age=YEAR,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
