"""What makes the site a web app: its manifest, by which it is installed, and its service worker."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.http import require_safe

import filters

LINEN = "#f5f2ec"
"""The colour of the pages' ground, as in site.css."""

ICONS = (
    ("icon.svg", "any", "image/svg+xml", "any"),
    ("icon-maskable.svg", "any", "image/svg+xml", "maskable"),
    ("icon-192.png", "192x192", "image/png", "any"),
    ("icon-512.png", "512x512", "image/png", "any"),
)
"""File, sizes, type and purpose of each icon."""


@login_not_required
@require_safe
def manifest(request: HttpRequest) -> HttpResponse:
    """Answer with the manifest of the web app (W3C Web Application Manifest)."""
    start = reverse("inbox")
    document = {
        "name": "Tapestry",
        "short_name": "Tapestry",
        "description": "Mail and news that filter themselves",
        "id": start,
        "start_url": start,
        "scope": start,
        "display": "standalone",
        "background_color": LINEN,
        "theme_color": LINEN,
        "icons": [
            {"src": static(f"filters/{file}"), "sizes": sizes, "type": kind, "purpose": purpose}
            for file, sizes, kind, purpose in ICONS
        ],
    }
    response = JsonResponse(document, content_type="application/manifest+json")
    response.headers["Cache-Control"] = "no-cache"
    return response


@login_not_required
@require_safe
def service_worker(request: HttpRequest) -> HttpResponse:
    """Answer with the script of the service worker: one at the root serves every page."""
    response = HttpResponse(_script(), content_type="text/javascript; charset=utf-8")
    response.headers["Service-Worker-Allowed"] = reverse("inbox")
    response.headers["Cache-Control"] = "no-cache"
    return response


@cache
def _script() -> str:
    (package,) = filters.__path__
    return (Path(package) / "static" / "filters" / "sw.js").read_text()
