"""The list of one's filters: how each is doing, and pausing, resuming, deleting them."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from filters.authoring import lifecycle, ready_made
from filters.authoring.models import Filter
from filters.authoring.usage import usage_of
from filters.people.requests import PersonRequest
from filters.runs.store.acts import stands
from tapestry.core.errors import TapestryError


@require_safe
def filter_list(request: PersonRequest) -> HttpResponse:
    """Show one's filters, those of the sidebar, with their counts."""
    context = {"missing": ready_made.missing(request.user)}
    return render(request, "authoring/filters.html", context)


@require_POST
def add_ready_made(request: PersonRequest) -> HttpResponse:
    """Add those filters about answers that a person has not."""
    try:
        for made in ready_made.missing(request.user):
            ready_made.add(request.user, made)
    except TapestryError as error:
        messages.error(request, f"{error.message} {error.hint}")
    return redirect("filters")


@require_POST
def pause(request: PersonRequest, name: str) -> HttpResponse:
    """Stop running a filter; once resumed it goes on from its watermark."""
    lifecycle.pause(_filter_of(request, name))
    return redirect("filters")


@require_POST
def resume(request: PersonRequest, name: str) -> HttpResponse:
    """Run a filter again, also one that failed: it may compile by now."""
    lifecycle.resume(_filter_of(request, name))
    return redirect("filters")


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: PersonRequest, name: str) -> HttpResponse:
    """Ask, then delete a filter and its matches; messages stay."""
    doomed = _filter_of(request, name)
    if request.method == "POST":
        lifecycle.delete(doomed, undo="undo" in request.POST)
        messages.success(request, f"The filter {doomed.display_name} is deleted.")
        return redirect("filters")
    standing = doomed.matches.filter(stands(), acted_at__isnull=False).count()
    context = {"doomed": doomed, "usage": usage_of(doomed), "standing": standing}
    return render(request, "authoring/delete.html", context)


def _filter_of(request: PersonRequest, name: str) -> Filter:
    return get_object_or_404(Filter, owner=request.user, name=name)
