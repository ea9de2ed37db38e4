"""The message page, what a reader can say of a message, and the message as it came."""

from __future__ import annotations

import re

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from filters.accounts.requests import PersonRequest, wants_fragment
from filters.inbox import listing, reading
from filters.inbox.forms import AnnotationForm
from filters.inbox.outbox import annotate as keep_annotation
from filters.inbox.tasks import append_soon
from filters.runtime import services
from filters.templatetags.mail import message_address
from tapestry.ingest.mime.charset import decode
from tapestry.tables.originals import Original
from tapestry.tables.originals import original as read_original

SHOWN = 256 * 1024
"""Bytes of an original that its page shows; the file has all of them."""

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@require_safe
def message(request: PersonRequest) -> HttpResponse:
    """Show the message that ``id`` names and mark it read; htmx gets it without the frame.

    HEAD shows it to nobody, and marks nothing.  ``in`` names the audience whose copy is
    meant, if there are several.
    """
    shown = _reading(request, request.GET.get("id", ""), request.GET.get("in"))
    news = request.method == "GET" and listing.mark_read(request.user, shown.message.msgid)
    if not wants_fragment(request):
        return render(request, "filters/inbox/message.html", {"reading": shown})
    response = render(request, "filters/inbox/_message.html", {"reading": shown})
    if news:
        response["HX-Trigger-After-Settle"] = "read"
    return response


@require_POST
def annotate(request: PersonRequest) -> HttpResponse:
    """Keep a vote or a tag, show it at once, and have it appended soon.

    One that is refused is shown with the reason: to htmx with 422, as it draws that, else with 400.
    """
    form = AnnotationForm(request.POST)
    msgid, audience = request.POST.get("id", ""), request.POST.get("audience")
    shown = _reading(request, msgid, audience)
    if not form.is_valid():
        return _refused(request, shown, form)
    given = form.cleaned_data
    if given["kind"] == "vote":
        content, is_new = {"number": given["number"]}, shown.my_vote != given["number"]
    else:
        content, is_new = {"value": given["value"]}, given["value"] not in shown.my_tags
    if is_new:
        msgid, audience = shown.message.msgid, shown.message.audience
        private = given["private"]
        keep_annotation(request.user, msgid, audience, given["kind"], private=private, **content)
    queued = append_soon()
    if not wants_fragment(request):
        return redirect(message_address(shown.message.msgid, shown.message.audience))
    updated = _reading(request, given["id"], shown.message.audience)
    context = {"reading": updated, "queued": queued, "private": given["private"]}
    return render(request, "filters/inbox/_standing.html", context)


def _refused(request: PersonRequest, shown: reading.Reading, form: AnnotationForm) -> HttpResponse:
    context = {
        "reading": shown,
        "refusal": form.refusal(),
        "tag": form.data.get("value", "") if "value" in form.errors else "",
        "is_tag_refused": "value" in form.errors,
        "private": bool(form.cleaned_data.get("private")),
    }
    if wants_fragment(request):
        return render(request, "filters/inbox/_standing.html", context, status=422)
    return render(request, "filters/inbox/message.html", context, status=400)


@require_safe
def original(request: PersonRequest) -> HttpResponse:
    """Show the message that ``id`` names as it came, and what could not be read of it."""
    msgid = request.GET.get("id", "")
    stored, audience = _original(request, msgid)
    context = {
        "msgid": msgid,
        "audience": audience,
        "text": decode(stored.raw[:SHOWN]),
        "size": len(stored.raw),
        "is_cut": len(stored.raw) > SHOWN,
        "problems": stored.problems,
    }
    return render(request, "filters/inbox/original.html", context)


@require_safe
def download(request: PersonRequest) -> HttpResponse:
    """Give the original bytes of the message that ``id`` names, as a file."""
    msgid = request.GET.get("id", "")
    name = _NOT_IN_A_NAME.sub("-", msgid).strip(".-")[:80] or "message"
    stored, _ = _original(request, msgid)
    response = HttpResponse(stored.raw, content_type="message/rfc822")
    response["Content-Disposition"] = f'attachment; filename="{name}.eml"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _reading(request: PersonRequest, msgid: str, audience: str | None) -> reading.Reading:
    shown = reading.read(request.user, msgid, audience)
    if shown is None:
        raise Http404("There is no such message, or you may not see it.")
    return shown


def _original(request: PersonRequest, msgid: str) -> tuple[Original, str]:
    """Return the original of the copy that is meant, and the audience of that copy."""
    for copy in reading.find(request.user, msgid, request.GET.get("in"))[:1]:
        stored = read_original(services.tables(), msgid, copy)
        if stored is not None:
            return stored, copy.audience
    raise Http404("There is no such message, it is not yours to see, or it was not kept.")
