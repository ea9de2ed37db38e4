"""The manifest of the web app (W3C Web Application Manifest), by which a browser installs it."""

from __future__ import annotations

from typing import Any

from django.templatetags.static import static
from django.urls import reverse

LINEN = "#f5f2ec"
"""The colour of the pages' ground, as in site.css."""

ICONS = (
    ("icon.svg", "any", "image/svg+xml", "any"),
    ("icon-maskable.svg", "any", "image/svg+xml", "maskable"),
    ("icon-192.png", "192x192", "image/png", "any"),
    ("icon-512.png", "512x512", "image/png", "any"),
)
"""File, sizes, type and purpose of each icon."""

SHORTCUTS = (("Inbox", "inbox"), ("New filter", "new-filter"), ("Search", "search"))
"""The pages that the icon of the installed app leads to, by the names of their addresses."""

MAILTO = "/compose/?mailto=%s"
"""Where a ``mailto:`` link leads (RFC 6068) once its reader has chosen this app for them."""


def manifest_document() -> dict[str, Any]:
    """Return the manifest, for JSON."""
    start = reverse("inbox")
    return {
        "name": "Tapestry",
        "short_name": "Tapestry",
        "description": "Mail and news that filter themselves",
        "id": start,
        "start_url": start,
        "scope": start,
        "display": "standalone",
        "background_color": LINEN,
        "theme_color": LINEN,
        "categories": ["email", "news", "productivity"],
        "icons": [
            {"src": static(f"site/{file}"), "sizes": sizes, "type": kind, "purpose": purpose}
            for file, sizes, kind, purpose in ICONS
        ],
        "shortcuts": [{"name": name, "url": reverse(address)} for name, address in SHORTCUTS],
        "protocol_handlers": [{"protocol": "mailto", "url": MAILTO}],
    }
