"""The page of a message."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from filters.inbox.lists import listing
from filters.people.requests import PersonRequest, wants_fragment
from filters.reading import reading


@require_safe
def message(request: PersonRequest) -> HttpResponse:
    """Show the message that ``id`` names and mark it read; htmx gets it without the frame.

    HEAD shows it to nobody, and marks nothing.  ``in`` names the audience whose copy is
    meant, if there are several.
    """
    shown = shown_message(request, request.GET.get("id", ""), request.GET.get("in"))
    news = request.method == "GET" and listing.mark_read(request.user, shown.message.msgid)
    if not wants_fragment(request):
        return render(request, "reading/message.html", {"reading": shown})
    response = render(request, "reading/_message.html", {"reading": shown})
    if news:
        response["HX-Trigger-After-Settle"] = "read"
    return response


def shown_message(request: PersonRequest, msgid: str, audience: str | None) -> reading.Reading:
    """Return a message as the reader may see it; 404 if it is not there, or not theirs to see."""
    shows_all = "all" in request.GET
    shown = reading.read(request.user, msgid, audience, shows_all=shows_all)
    if shown is None:
        raise Http404("There is no such message, or you may not see it.")
    return shown
