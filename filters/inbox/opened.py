"""What the address of a list names: the filter of the list, and the message open beside it."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404

from filters.authoring.models import Filter
from filters.inbox.lists import listing
from filters.people.models import User
from filters.people.requests import PersonRequest, wants_fragment
from filters.reading import reading


def filter_named(user: User, name: str | None) -> Filter | None:
    """Return a person's filter of a name, None without a name; raise Http404 if there is none."""
    return get_object_or_404(user.filters, name=name) if name else None


def open_message(request: PersonRequest, audience: str | None = None) -> tuple[dict[str, Any], int]:
    """Return the message that ``open`` names, as templates have it, and the status of the page.

    It is marked read.  The status is 404 where there is no such message, or none of that audience,
    that is the reader's to see.  htmx gets the list alone.
    """
    opened = None if wants_fragment(request) else request.GET.get("open")
    shown = reading.read(request.user, opened, audience) if opened else None
    if shown is not None and request.method == "GET":
        listing.mark_read(request.user, shown.message.msgid)
    return {"reading": shown, "missing": opened}, 404 if opened and shown is None else 200
