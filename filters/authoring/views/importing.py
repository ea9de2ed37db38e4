"""Filters from a file, ticked and created, and all filters to a file."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from filters.accounts import people
from filters.accounts.requests import PersonRequest
from filters.authoring.importing.creation import create_all
from filters.authoring.importing.entries import MOST_ENTRIES, Entry, UnreadableFileError
from filters.authoring.importing.files import LARGEST_OWN, read_file
from filters.authoring.importing.gmail import translated
from filters.authoring.importing.offers import Offer, offers_of
from filters.authoring.importing.own_file import TEXTS, write_filters
from filters.authoring.importing.paging import first_page, in_order, pack, unpack
from filters.models import Filter
from filters.runtime.queue import UNPROVEN_WINDOWS, run_soon
from tapestry.servers.quoted_reply import storable


@require_http_methods(["GET", "HEAD", "POST"])
def choose(request: PersonRequest) -> HttpResponse:
    """Take a file, or the text of one, and show which filters it has, clause by clause."""
    if request.method != "POST":
        return render(request, "filters/authoring/import.html")
    file = request.FILES.get("file")
    raw = file.read(LARGEST_OWN + 1) if file else request.POST.get("pasted", "").encode()
    try:
        entries = read_file(raw)
    except UnreadableFileError as error:
        context = {"refusal": error.message, "pasted": request.POST.get("pasted", "")}
        return render(request, "filters/authoring/import.html", context, status=400)
    return _offered(request, in_order(request.user, entries))


@require_POST
def create(request: PersonRequest) -> HttpResponse:
    """Create the filters that are ticked, and show the next ones.

    Those that cannot be created are shown again, with the reason.
    """
    entries = [
        entry
        for number in request.POST.getlist("create")[:MOST_ENTRIES]
        if (entry := _entry(request, number)) is not None
    ]
    created, refused = create_all(request.user, entries)
    rest = unpack(request.user, request.POST.get("rest", ""))
    if created:
        run_soon(UNPROVEN_WINDOWS)
        done = f"{len(created)} filters created. Their matches will appear here."
        if len(created) == 1:
            done = f"“{created[0].display_name}” created. Its matches will appear here."
        messages.success(request, done)
    elif not refused and not rest:
        messages.warning(request, "Nothing was ticked, so nothing was created.")
    if refused or rest:
        return _offered(request, rest, refused, status=400 if refused else 200)
    return redirect("filters")


@require_safe
def export(request: PersonRequest) -> HttpResponse:
    """Give all filters of the person as one text file."""
    filters = Filter.objects.filter(owner=request.user).order_by("name")
    text = write_filters(filters, people.time_zone(request.user))
    response = HttpResponse(text, content_type="text/plain; charset=utf-8")
    name = f"tapestry-filters-{timezone.localdate():%F}.toml"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _offered(
    request: PersonRequest, entries: Sequence[Entry], again: Sequence[Offer] = (), status: int = 200
) -> HttpResponse:
    """Offer some filters again, and as many others as there is room for; the rest waits."""
    room, context = MOST_ENTRIES - len(again), people.context(request.user)
    readable = [translated(entry, context) for entry in entries[:room]]
    offered = first_page(readable, room)
    page, rest = readable[:offered], [*readable[offered:], *entries[room:]]
    packed = pack(request.user, rest)
    shown = {
        "offers": [*again, *offers_of(request.user, page, rest)],
        "rest": packed,
        "waiting": len(rest) if packed else 0,
        "left_out": 0 if packed else len(rest),
    }
    return render(request, "filters/authoring/import_offers.html", shown, status=status)


def _entry(request: PersonRequest, number: str) -> Entry | None:
    """Return the entry that a form sends, under the title given there."""
    if not re.fullmatch("[0-9]{1,4}", number):
        return None
    try:
        sent = json.loads(request.POST.get(f"entry-{number}", ""))
    except (ValueError, RecursionError):
        return None
    if not isinstance(sent, dict):
        return None
    options = {key: storable(sent[key]) for key in TEXTS if isinstance(sent.get(key), str)}
    options["title"] = request.POST.get(f"title-{number}", options.get("title", "")).strip()
    return Entry(options["title"], options.get("text", ""), options=options)
