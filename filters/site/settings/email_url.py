"""EMAIL_URL: the server that sends mail, as Django's settings name it, or none."""

from __future__ import annotations

from typing import Any

import environ
from django.conf import settings as site
from django.core.exceptions import ImproperlyConfigured

from tapestry.core.errors import TapestryError

HINT = (
    "Write smtp+tls://user:password@mail.example.org:587, or leave it out to keep mail on a page."
)

PORTS = {"EMAIL_USE_TLS": 587, "EMAIL_USE_SSL": 465}
"""Ports of submission (RFC 8314), where the URL names none; without either it is 25."""


def email_settings(url: str) -> dict[str, Any]:
    """Return Django's settings for mail: those of a URL, or a backend that keeps mail for a page.

    >>> settings = email_settings("smtp+tls://terry:secret@mail.example.org")
    >>> settings["EMAIL_HOST"], settings["EMAIL_PORT"], settings["EMAIL_USE_TLS"]
    ('mail.example.org', 587, True)
    >>> email_settings("")["EMAIL_BACKEND"]
    'filters.delivery.mail.kept.KeptMailBackend'

    Raise TapestryError if the URL cannot be read.
    """
    if not url:
        return {"EMAIL_BACKEND": "filters.delivery.mail.kept.KeptMailBackend"}
    try:
        settings: dict[str, Any] = dict(environ.Env.email_url_config(url))
    except (ImproperlyConfigured, ValueError) as error:
        raise TapestryError("EMAIL_URL is not the address of a mail server.", hint=HINT) from error
    if settings["EMAIL_BACKEND"].endswith("smtp.EmailBackend"):
        if not settings["EMAIL_HOST"]:
            raise TapestryError("EMAIL_URL names no host.", hint=HINT)
        secured = [port for name, port in PORTS.items() if settings.get(name)]
        settings["EMAIL_PORT"] = settings["EMAIL_PORT"] or next(iter(secured), 25)
        settings["EMAIL_BACKEND"] = "filters.delivery.mail.smtp.EmailBackend"
    return settings


def is_kept_only() -> bool:
    """Tell whether this site has no mail server, so that mail is only kept for a page."""
    return site.EMAIL_BACKEND.endswith("KeptMailBackend")
