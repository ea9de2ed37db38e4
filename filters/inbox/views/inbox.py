"""The inbox: what all filters found, or one of them; the open message beside the list."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from filters.accounts.requests import PersonRequest, wants_fragment
from filters.inbox import listing, reading
from filters.models import Feed, Filter
from filters.store.shared_window import show_position

PAGE = 50


@require_safe
def inbox(
    request: PersonRequest, name: str | None = None, *, retracted: bool = False
) -> HttpResponse:
    """Show the list, and the message that ``open`` names; htmx gets the list alone.

    The status is 404 where there is a list, but no such message, or none of that audience
    (``in``) that is the reader's to see.
    ``retracted``: the list of the messages that have left a live filter.
    """
    filter_ = None if name is None else get_object_or_404(Filter, owner=request.user, name=name)
    if filter_ is not None:
        show_position([filter_])
    here = reverse("inbox") if filter_ is None else filter_.get_absolute_url()
    if filter_ is not None and retracted:
        here = reverse("filter-retracted", args=[filter_.name])
    cards = listing.cards(request.user, filter_, retracted=retracted)
    page = Paginator(cards, PAGE).get_page(request.GET.get("page"))
    is_fragment = wants_fragment(request)
    opened = None if is_fragment else request.GET.get("open")
    shown = reading.read(request.user, opened, request.GET.get("in")) if opened else None
    if shown is not None and request.method == "GET":
        listing.mark_read(request.user, shown.message.msgid)
    context: dict[str, object] = {
        "page": page,
        "here": here,
        "filter": filter_,
        "retracted": retracted,
    }
    context["rows"] = listing.rows(request.user, page, filter_, retracted=retracted)
    if filter_ is not None and not retracted:
        context["progress"] = listing.progress(request.user, filter_)
    if filter_ is not None and filter_.is_live and not retracted:
        left = listing.visible(request.user, retracted=True).filter(filter=filter_)
        context["left"] = left.count()
    if is_fragment:
        return render(request, "filters/inbox/_list.html", context)
    context["feed"] = Feed.objects.filter(owner=request.user, filter=filter_).first()
    context |= {"current": name or "/", "reading": shown, "missing": opened}
    status = 404 if opened and shown is None else 200
    return render(request, "filters/inbox/inbox.html", context, status=status)


@require_safe
def sidebar(request: PersonRequest) -> HttpResponse:
    """Show the counts again; 204 while nothing has changed since the ``mark`` in ``seen``.

    A change sends the event ``arrived`` to the page, which then loads its list again.
    """
    counts = listing.sidebar(request.user)
    if counts.mark == request.GET.get("seen"):
        return HttpResponse(status=204)
    context = {"sidebar": counts, "current": request.GET.get("current", "")}
    response = render(request, "filters/inbox/_sidebar.html", context)
    response["HX-Trigger"] = "arrived"
    return response


@require_POST
def show_now(request: PersonRequest, name: str) -> HttpResponse:
    """Show at once what a filter found and would show later."""
    filter_ = get_object_or_404(Filter, owner=request.user, name=name)
    listing.show_now(filter_)
    return redirect(filter_)


@require_POST
def mark_all_read(request: PersonRequest) -> HttpResponse:
    """Mark all that a filter found, or all filters, as read."""
    if name := request.POST.get("filter"):
        filter_ = get_object_or_404(Filter, owner=request.user, name=name)
        listing.mark_all_read(request.user, filter_)
        return redirect(filter_)
    listing.mark_all_read(request.user)
    return redirect("inbox")
