"""The inbox: what all filters found, or one of them; the open message beside the list."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from filters import listing, reading
from filters.models import Filter
from filters.views.pages import PersonRequest, frame, wants_fragment
from tapestry.core.clock import wall_clock

PAGE = 50


@login_required
@require_GET
def inbox(request: PersonRequest, name: str | None = None) -> HttpResponse:
    """Show the list, and the message that ``open`` names; htmx gets the list alone."""
    one = None if name is None else get_object_or_404(Filter, owner=request.user, name=name)
    here = reverse("inbox") if one is None else one.get_absolute_url()
    page = Paginator(listing.cards(request.user, one), PAGE).get_page(request.GET.get("page"))
    if wants_fragment(request):
        rows = listing.rows(request.user, page)
        return render(
            request, "filters/_list.html", {"rows": rows, "page": page, "here": here, "one": one}
        )
    opened = request.GET.get("open")
    found = reading.read(request.user, opened) if opened else None
    if found is not None:
        listing.mark_read(request.user, found.message.msgid)
    context = frame(request, current=name or "/", page=page, here=here, one=one)
    context |= {"reading": found, "missing": opened}
    context["rows"] = listing.rows(request.user, page)
    return render(request, "filters/inbox.html", context)


@login_required
@require_GET
def sidebar(request: PersonRequest) -> HttpResponse:
    """Show the counts again; 204 while nothing has changed since the ``mark`` in ``seen``.

    A change is told to the page (the event ``arrived``), whose list then comes again.
    """
    counts = listing.sidebar(request.user)
    if counts.mark == request.GET.get("seen"):
        return HttpResponse(status=204)
    response = render(
        request,
        "filters/_sidebar.html",
        {"sidebar": counts, "current": request.GET.get("current", "")},
    )
    response["HX-Trigger"] = "arrived"
    return response


@login_required
@require_POST
def mark_all_read(request: PersonRequest) -> HttpResponse:
    """Mark all that a filter found, or all filters, as read."""
    unread = listing.visible(request.user).filter(read_at=None)
    name = request.POST.get("filter")
    if name:
        one = get_object_or_404(Filter, owner=request.user, name=name)
        unread.filter(filter=one).update(read_at=wall_clock())
        return redirect(one)
    unread.update(read_at=wall_clock())
    return redirect("inbox")
