"""The page that says why a message is not in a filter: which part is false, and since when."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from filters.authoring.models import Filter
from filters.authoring.tasks import start_why
from filters.authoring.views.waiting import wait_for
from filters.authoring.why.asking import WHYS, choices, named, question
from filters.authoring.why.listed import first_unlisted, stored_words
from filters.authoring.why.words import line_of, outlook
from filters.people.requests import PersonRequest
from filters.reading.reading import Reading
from filters.reading.views.message import shown_message
from filters.runs.store.shared_window import show_position

PAGE = "authoring/why.html"


@require_safe
def why(request: PersonRequest) -> HttpResponse:
    """Say why the message ``id`` is, or is not, in the filter ``filter``, or let one be chosen.

    404 if the reader may not see the message, and 400 if there is no such filter for them.
    """
    reading = shown_message(request, request.GET.get("id", ""), request.GET.get("in"))
    name = request.GET.get("filter", "")
    context: dict[str, Any] = {
        "reading": reading,
        "groups": choices(request.user),
        "chosen": name or first_unlisted(request.user, reading.message.msgid),
    }
    if not name:
        return render(request, PAGE, context)
    filter_ = named(request.user, name)
    if filter_ is None:
        fault = "There is no such filter, or its owner shares it no longer. Choose another."
        return render(request, PAGE, context | {"fault": fault}, status=400)
    return render(request, PAGE, context | _answered(request, reading, filter_, name))


def _answered(
    request: PersonRequest, reading: Reading, filter_: Filter, name: str
) -> dict[str, Any]:
    user, message = request.user, reading.message
    show_position([filter_])
    query = {"id": message.msgid, "in": message.audience, "filter": name}
    start = partial(start_why, filter_, name, message.msgid, user.pk)
    wait = wait_for(request, WHYS, question(filter_, message.msgid), start)
    context: dict[str, Any] = {
        "filter": filter_,
        "is_own": filter_.owner_id == user.pk,
        "here": f"{reverse('why')}?{urlencode(query)}",
        "wait": wait,
        "stored": stored_words(user, filter_, message.msgid, reading.state),
    }
    if wait.answer is not None:
        part, at = wait.answer["part"], wait.answer["at"]
        context |= {
            "line": line_of(part, reading.annotations),
            "at": at,
            "outlook": outlook(part),
        }
    return context
