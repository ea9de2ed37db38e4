"""The lists of what is starred, snoozed, done and muted; the open message beside the list."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from filters.inbox import counts
from filters.inbox.lists import listing
from filters.inbox.lists.rows import page_rows, rows_of
from filters.inbox.opened import open_message
from filters.inbox.triage.conversations import muted_page, shelf_page
from filters.inbox.triage.lists import SHELVES, Shelf, cards_of, states_of
from filters.people.requests import PersonRequest, wants_fragment

PAGE = 50


@require_safe
def shelf(request: PersonRequest, name: str) -> HttpResponse:
    """Show a list, and the message that ``open`` names; htmx gets the list alone.

    The status is that of ``open_message``.
    """
    shown_shelf = SHELVES[name]
    beside, status = open_message(request, request.GET.get("in"))
    context: dict[str, Any] = {"shelf": shown_shelf, "here": reverse(name), "current": f"/{name}"}
    context |= _page(request, shown_shelf)
    if wants_fragment(request):
        return render(request, "inbox/_list.html", context)
    return render(request, "inbox/triage/shelf.html", context | beside, status=status)


def _page(request: PersonRequest, shown: Shelf) -> dict[str, Any]:
    """Return a page of the list and its lines."""
    number = request.GET.get("page")
    if request.user.conversations:
        counted = counts.sidebar(request.user)
        if shown.name == "muted":
            page, rows = muted_page(request.user, number)
        else:
            page, rows = shelf_page(request.user, shown, number, counted)
        return {"page": page, "rows": rows, "sidebar": counted}
    if shown.name == "muted":
        muted = Paginator(listing.cards(request.user, muted=True), PAGE).get_page(number)
        return {"page": muted, "rows": page_rows(request.user, muted)}
    states = Paginator(states_of(request.user, shown), PAGE).get_page(number)
    moved_at = {state.msgid: getattr(state, shown.field) for state in states}
    rows = rows_of(request.user, cards_of(list(states)), moved_at=moved_at)
    return {"page": states, "rows": rows}
