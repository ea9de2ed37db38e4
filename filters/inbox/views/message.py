"""The message page, and what one can say of a message."""

from __future__ import annotations

from django.http import Http404, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from filters.accounts.requests import PersonRequest, wants_fragment
from filters.inbox import listing, reading
from filters.inbox.forms import AnnotationForm
from filters.inbox.outbox import annotate as keep_annotation
from filters.inbox.tasks import append_soon
from filters.templatetags.mail import message_address


@require_GET
def message(request: PersonRequest) -> HttpResponse:
    """Show the message that ``id`` names and mark it read; htmx gets it without the frame.

    ``in`` names the audience whose copy is meant, if there are several.
    """
    shown = _reading(request, request.GET.get("id", ""), request.GET.get("in"))
    news = listing.mark_read(request.user, shown.message.msgid)
    if not wants_fragment(request):
        return render(request, "filters/inbox/message.html", {"reading": shown})
    response = render(request, "filters/inbox/_message.html", {"reading": shown})
    if news:
        response["HX-Trigger-After-Settle"] = "read"
    return response


@require_POST
def annotate(request: PersonRequest) -> HttpResponse:
    """Keep a vote or a tag, show it at once, and have it appended soon."""
    form = AnnotationForm(request.POST)
    if not form.is_valid():
        reasons = [text for errors in form.errors.values() for text in errors]
        return HttpResponseBadRequest(" ".join(map(str, reasons)), content_type="text/plain")
    given = form.cleaned_data
    shown = _reading(request, given["id"], given["audience"])
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


def _reading(request: PersonRequest, msgid: str, audience: str | None) -> reading.Reading:
    shown = reading.read(request.user, msgid, audience)
    if shown is None:
        raise Http404("There is no such message, or it is not yours to see.")
    return shown
