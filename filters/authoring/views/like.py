"""Filter messages like this: parts of a message, ticked, become the text of a new filter."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from filters.authoring.likeness import join_parts, parts_of, usual_keys
from filters.people import people
from filters.people.requests import PersonRequest, wants_fragment
from filters.site.work.parts import services
from tapestry.core.message import Message
from tapestry.tables.read.messages import copies, read_copy


@require_safe
def like(request: PersonRequest) -> HttpResponse:
    """Offer parts of the message that ``id`` names, of its copy for ``in``; 404 to strangers.

    ``part`` are the keys that are ticked; with ``write`` the page on which filters are written
    opens with the text that they make.
    """
    message = _message(request)
    context = people.context(request.user)
    parts = parts_of(message, context)
    ticked = request.GET.getlist("part")
    if "ticked" not in request.GET:
        ticked = usual_keys(parts)
    text = join_parts([part for part in parts if part.key in ticked], context)
    if "write" in request.GET and text:
        return redirect(f"{reverse('new-filter')}?{urlencode({'text': text})}")
    shown = {
        "message": message,
        "parts": [(part, part.key in ticked) for part in parts],
        "text": text,
        "is_missing": "write" in request.GET,
    }
    name = "_like_text" if wants_fragment(request) else "like"
    status = 400 if shown["is_missing"] else 200
    return render(request, f"authoring/{name}.html", shown, status=status)


def _message(request: PersonRequest) -> Message:
    """Return the copy that is meant, if the reader may see it."""
    msgid, audience = request.GET.get("id", ""), request.GET.get("in")
    visible = copies(services.tables(), msgid, people.audiences(request.user))
    for copy in visible:
        if not audience or copy.audience == audience:
            row = read_copy(msgid, copy)
            if row is not None:
                return row.message
    raise Http404("There is no such message, or you may not see it.")
