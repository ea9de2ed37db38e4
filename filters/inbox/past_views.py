"""The page of a list as it was at an instant: to be read, not to be acted on."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from filters.authoring.models import Filter
from filters.inbox.lists.past import Past
from filters.inbox.triage.lists import SHELVES
from filters.people.models import User
from filters.people.requests import PersonRequest
from tapestry.core.clock import to_instant, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.deliver.timing.local_time import typed_instant

PAGE = 50

LAST = 1_000_000
"""The greatest number of a page: what is beyond is taken for a typing error."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A list that is named: its title, its address now, and how its days are headed."""

    title: str
    address: str
    heading: str = "Matched"
    filter: Filter | None = None
    field: str = ""
    is_muted: bool = False


@require_safe
def as_of(request: PersonRequest) -> HttpResponse:
    """Show the list ``list`` as it was ``at`` a local time of the reader.

    The list is a shelf by its name, a filter as ``in/NAME``, or the inbox if it is empty.  400
    where there is no such list or time.
    """
    name, given = request.GET.get("list", ""), request.GET.get("at", "")
    context: dict[str, object] = {"name": name, "given": given}
    try:
        chosen = _chosen(request.user, name)
        context["chosen"] = chosen
        if not given:
            return render(request, "inbox/as_of.html", context)
        at = _instant(request.user, given)
        number = _number(request.GET.get("page", "1"))
    except TapestryError as error:
        fault = error.sentences
        return render(request, "inbox/as_of.html", context | {"fault": fault}, status=400)
    past, begin = Past(request.user, at), (number - 1) * PAGE
    if chosen.field:
        lines = past.shelf(chosen.field, begin, begin + PAGE + 1)
    else:
        lines = past.page(begin, begin + PAGE + 1, chosen.filter, muted=chosen.is_muted)
    here = f"{reverse('as-of')}?{urlencode({'list': name, 'at': given})}"
    context |= {
        "at": at,
        "is_before": at < to_instant(request.user.date_joined),
        "lines": lines[:PAGE],
        "newer": f"{here}&page={number - 1}" if number > 1 else "",
        "older": f"{here}&page={number + 1}" if len(lines) > PAGE else "",
    }
    return render(request, "inbox/as_of.html", context)


def _chosen(user: User, name: str) -> Chosen:
    if not name:
        return Chosen("Inbox", reverse("inbox"))
    if shelf := SHELVES.get(name):
        is_muted = not shelf.field
        return Chosen(
            shelf.title, reverse(name), shelf.heading, field=shelf.field, is_muted=is_muted
        )
    slug = name.removeprefix("in/")
    filter_ = Filter.objects.filter(owner=user, name=slug).first() if slug != name else None
    if filter_ is None:
        raise TapestryError("There is no such list.", hint="Choose one of yours.")
    return Chosen(filter_.display_name, filter_.get_absolute_url(), filter=filter_)


def _instant(user: User, given: str) -> int:
    """Return the instant of a local time as a browser sends it; raise TapestryError."""
    at = typed_instant(given, user.zone, "Say as of when.")
    if at > wall_clock():
        raise TapestryError("That time is still to come.", hint="Choose an earlier one.")
    return at


def _number(given: str) -> int:
    if not given.isascii() or not given.isdecimal() or not 0 < int(given[:9]) <= LAST:
        raise TapestryError("There is no such page.")
    return int(given[:9])
