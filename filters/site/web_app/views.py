"""The manifest and the service worker of the web app, and the page that is shown without a net."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from filters.site.web_app.manifest import manifest_document
from filters.site.web_app.shell import offline_page, worker_script


@login_not_required
@require_safe
def manifest(request: HttpRequest) -> HttpResponse:
    """Answer with the manifest."""
    response = JsonResponse(manifest_document(), content_type="application/manifest+json")
    response.headers["Cache-Control"] = "no-cache"
    return response


@login_not_required
@require_safe
def service_worker(request: HttpRequest) -> HttpResponse:
    """Answer with the script of the service worker: one at the root serves every page."""
    response = HttpResponse(worker_script(), content_type="text/javascript; charset=utf-8")
    response.headers["Service-Worker-Allowed"] = reverse("inbox")
    response.headers["Cache-Control"] = "no-cache"
    return response


@login_not_required
@require_safe
def offline(request: HttpRequest) -> HttpResponse:
    """Answer with the page that says that the site cannot be reached: the same for everybody."""
    response = HttpResponse(offline_page())
    response.headers["Cache-Control"] = "no-cache"
    return response
