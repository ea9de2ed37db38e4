"""The original of a message, for those who may see the message: shown, and given as a file."""

from __future__ import annotations

import re

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from filters.people.requests import PersonRequest
from filters.reading import reading
from filters.site.work.parts import services
from tapestry.mime.charset import decode
from tapestry.tables.read.originals import Original
from tapestry.tables.read.originals import original as read_original

SHOWN = 256 * 1024
"""Bytes of an original that its page shows; the file has all of them."""

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def find_original(request: PersonRequest) -> tuple[Original, str]:
    """Return the original that ``id`` and ``in`` name, and the audience of that copy.

    Raises Http404 where it is not there, not the reader's to see, or was not kept.
    """
    msgid = request.GET.get("id", "")
    for copy in reading.find(request.user, msgid, request.GET.get("in"))[:1]:
        stored = read_original(services.tables(), msgid, copy)
        if stored is not None:
            return stored, copy.audience
    raise Http404("There is no such message, it is not yours to see, or it was not kept.")


@require_safe
def original(request: PersonRequest) -> HttpResponse:
    """Show the message that ``id`` names as it came, and what could not be read of it."""
    msgid = request.GET.get("id", "")
    stored, audience = find_original(request)
    context = {
        "msgid": msgid,
        "audience": audience,
        "text": decode(stored.raw[:SHOWN]),
        "size": len(stored.raw),
        "is_cut": len(stored.raw) > SHOWN,
        "problems": stored.problems,
    }
    return render(request, "reading/original.html", context)


@require_safe
def download(request: PersonRequest) -> HttpResponse:
    """Give the original bytes of the message that ``id`` names, as a file."""
    msgid = request.GET.get("id", "")
    name = _NOT_IN_A_NAME.sub("-", msgid).strip(".-")[:80] or "message"
    stored, _ = find_original(request)
    response = HttpResponse(stored.raw, content_type="message/rfc822")
    response["Content-Disposition"] = f'attachment; filename="{name}.eml"'
    response["X-Content-Type-Options"] = "nosniff"
    return response
