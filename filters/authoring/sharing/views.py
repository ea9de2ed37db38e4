"""The filters that others share: found, followed, used in one's own."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from filters.authoring.models import Filter
from filters.authoring.sharing.following import follow as follow_filter
from filters.authoring.sharing.following import own_of, reference_text, shared_with
from filters.authoring.usage import people_using
from filters.people.requests import PersonRequest
from filters.site.work.queues.queue import UNPROVEN_WINDOWS, run_soon
from tapestry.core.errors import TapestryError

PAGE = 30


@dataclass(frozen=True, slots=True)
class Line:
    """A shared filter: ``people`` use it, the reader by ``own``; ``reference`` names it."""

    filter: Filter
    people: int
    own: Filter | None
    reference: str


@require_safe
def shared_filters(request: PersonRequest) -> HttpResponse:
    """Show what other people share."""
    return _page(request)


@require_POST
def follow(request: PersonRequest) -> HttpResponse:
    """Follow the filter of this ``owner`` and ``name``; 404 if they share none of that name."""
    named = {"owner__username": request.POST.get("owner"), "name": request.POST.get("name")}
    followed = get_object_or_404(shared_with(request.user), **named)
    try:
        own = follow_filter(request.user, followed)
    except TapestryError as error:
        return _page(request, error.sentences)
    run_soon(UNPROVEN_WINDOWS)
    owner, name = followed.owner.get_username(), followed.display_name
    messages.success(request, f"You follow {owner}’s {name}.")
    return redirect(own)


def _page(request: PersonRequest, fault: str = "") -> HttpResponse:
    page = Paginator(shared_with(request.user), PAGE).get_page(request.GET.get("page"))
    filters = list(page)
    people, own = people_using(filters), own_of(request.user, filters)
    lines = [
        Line(filter_, people[filter_.pk], own.get(filter_.pk), reference_text(filter_))
        for filter_ in filters
    ]
    context = {"page": page, "lines": lines, "fault": fault}
    return render(request, "authoring/sharing/shared.html", context, status=400 if fault else 200)
