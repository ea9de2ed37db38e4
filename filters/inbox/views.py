"""The inbox: what all filters found, or one of them; the open message beside the list."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import prefetch_related_objects
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.views.decorators.http import require_POST, require_safe

from filters.authoring.models import Filter
from filters.delivery.models import Feed
from filters.inbox import counts, folding, importance
from filters.inbox.complete import completeness
from filters.inbox.conversation_pages import list_page
from filters.inbox.first_steps import first_steps
from filters.inbox.lists import listing
from filters.inbox.lists.rows import Row, page_rows
from filters.inbox.models import Match
from filters.inbox.opened import filter_named, open_message
from filters.inbox.pages import page_of
from filters.people.models import User
from filters.people.requests import PersonRequest, local_path, wants_fragment
from filters.runs.store import release
from filters.runs.store.shared_window import show_position

PAGE = 50

BY_IMPORTANCE = "inbox-by-importance"


@require_safe
def inbox(
    request: PersonRequest,
    name: str | None = None,
    *,
    retracted: bool = False,
    by_importance: bool = False,
) -> HttpResponse:
    """Show the list, and the message that ``open`` names; htmx gets the list alone.

    The status is that of ``open_message``; ``in`` is its audience.
    ``retracted``: the list of the messages that have left a live filter.
    ``by_importance``: the list in the order of the reader's appraiser rules, once there are scores.
    """
    # Each part of the page asks what the reader may see.
    prefetch_related_objects([request.user], "groups")
    filter_ = filter_named(request.user, name)
    if filter_ is not None:
        show_position([filter_])
    here = reverse("inbox") if filter_ is None else filter_.get_absolute_url()
    if filter_ is not None and retracted:
        here = reverse("filter-retracted", args=[filter_.name])
    if by_importance:
        here = reverse("filter-by-importance", args=[name]) if name else reverse(BY_IMPORTANCE)
    order = importance.order_of(request.user, by_importance=by_importance)
    is_fragment = wants_fragment(request)
    beside, status = open_message(request, request.GET.get("in"))
    counted = counts.sidebar(request.user)
    page, rows = _page(request, filter_, counted, order, retracted=retracted)
    context: dict[str, object] = {
        "page": page,
        "here": here,
        "filter": filter_,
        "retracted": retracted,
        "sidebar": counted,
        "order": order,
    }
    context["rows"] = rows
    if filter_ is not None and not retracted:
        context["progress"] = listing.progress(request.user, filter_)
    if filter_ is not None and filter_.is_live and not retracted:
        left = Match.objects.visible_to(request.user, retracted=True).filter(filter=filter_)
        context["left"] = left.count()
    if filter_ is not None and not is_fragment:
        context["not_shown"] = release.why_not(filter_)
        context["complete"] = completeness(filter_)
    if filter_ is None and page.number == 1:
        context["folded"], context["unfolded"] = counted.folded, counted.unfolded
    if not context["rows"] and not retracted:
        context["emptied"] = _is_emptied(request.user, filter_)
    if filter_ is None and not context["rows"]:
        context["first_steps"] = SimpleLazyObject(lambda: first_steps(request.user))
    if is_fragment:
        return render(request, "inbox/_list.html", context)
    context["feed"] = Feed.objects.filter(owner=request.user, filter=filter_).first()
    context |= {"current": name or "/", **beside}
    return render(request, "inbox/inbox.html", context, status=status)


def _is_emptied(user: User, filter_: Filter | None) -> bool:
    """Tell whether all of an empty list was seen in it, and has been put away since."""
    seen = Match.objects.visible_to(user)
    return (seen if filter_ is None else seen.filter(filter=filter_)).exists()


def _page(
    request: PersonRequest,
    filter_: Filter | None,
    counted: counts.Sidebar,
    order: importance.Order,
    *,
    retracted: bool,
) -> tuple[Page[Any], list[Row]]:
    """Return a page of the list, and its lines; what has left a list is never in conversations."""
    user, number = request.user, request.GET.get("page")
    if order.is_by_importance:
        return importance.list_page(user, filter_, number, counted.mark, order)
    if user.conversations and not retracted:
        return list_page(user, filter_, number, counted)
    if retracted:
        page: Any = Paginator(listing.cards(user, filter_, retracted=True), PAGE).get_page(number)
    else:
        page = page_of(user, filter_, number, PAGE, counted.total_of(filter_))
    return page, page_rows(user, page, filter_, retracted=retracted)


@require_safe
def sidebar(request: PersonRequest) -> HttpResponse:
    """Show the counts again; 204 while nothing has changed since the ``mark`` in ``seen``.

    A change sends the event ``arrived`` to the page, which then loads its list again.
    """
    if counts.mark_of(request.user) == request.GET.get("seen"):
        return HttpResponse(status=204)
    context = {"sidebar": counts.sidebar(request.user), "current": request.GET.get("current", "")}
    response = render(request, "inbox/_sidebar.html", context)
    response["HX-Trigger"] = "arrived"
    return response


@require_safe
def show_first_steps(request: PersonRequest) -> HttpResponse:
    """Show again how far somebody without filters has come."""
    context = {"first_steps": first_steps(request.user)}
    return render(request, "inbox/_first_steps.html", context)


@require_POST
def show_now(request: PersonRequest, name: str) -> HttpResponse:
    """Show at once what a filter found and would show later."""
    filter_ = get_object_or_404(Filter, owner=request.user, name=name)
    listing.show_now(filter_)
    return redirect(filter_)


@require_POST
def unfold(request: PersonRequest) -> HttpResponse:
    """Show each message that a ``filter`` found in mail of before in the inbox; 404 for no such."""
    filter_ = get_object_or_404(Filter, owner=request.user, name=request.POST.get("filter", ""))
    folding.unfold(filter_)
    return redirect("inbox")


@require_POST
def fold(request: PersonRequest) -> HttpResponse:
    """Make one line again of what a ``filter`` found in mail of before; 404 for no such filter."""
    filter_ = get_object_or_404(Filter, owner=request.user, name=request.POST.get("filter", ""))
    folding.fold(filter_)
    return redirect(local_path(request.POST.get("next", ""), "inbox"))


@require_POST
def set_lines(request: PersonRequest) -> HttpResponse:
    """Keep whether lists have a line for each conversation or each message, and go back."""
    chosen = {"conversations": True, "messages": False}.get(request.POST.get("lines", ""))
    if chosen is None:
        return HttpResponse("Choose conversations or messages.", status=400)
    User.objects.filter(pk=request.user.pk).update(conversations=chosen)
    return redirect(local_path(request.POST.get("next", ""), "inbox"))
