"""What a destination would send: shown on a page, or sent once."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from filters.delivery import changes, samples
from filters.delivery.views.destinations import destination_of
from filters.delivery.views.framed import framed_html
from filters.people.requests import PersonRequest, errors_told
from tapestry.core.errors import TapestryError


@require_safe
def preview(request: PersonRequest, pk: int) -> HttpResponse:
    """Show what a destination would send of the newest matches of its filters."""
    shown = destination_of(request, pk)
    context: dict[str, object] = {"destination": shown}
    try:
        context["preview"] = samples.preview(shown)
    except TapestryError as error:
        context["error"] = error
    return render(request, "delivery/preview.html", context)


@require_safe
def preview_html(request: PersonRequest, pk: int) -> HttpResponse:
    """Return the HTML of a preview alone, for the frame on its page."""
    try:
        made = samples.preview(destination_of(request, pk))
    except TapestryError:
        made = None  # the page around it says why
    if made is None or made.kind != "html":
        raise Http404("There is no HTML to show.")
    return framed_html(made.content)


@require_POST
def send_now(request: PersonRequest, pk: int) -> HttpResponse:
    """Have a worker send what the preview shows; the page of the destination shows the answer."""
    asked = destination_of(request, pk)
    with errors_told(request):
        changes.begin_sample(asked)
    return redirect(asked)
