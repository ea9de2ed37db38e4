"""The page of a message, and what a reader can say of it."""

from __future__ import annotations

from dataclasses import replace

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from filters.accounts.requests import PersonRequest, wants_fragment
from filters.annotations import opinions
from filters.annotations.forms import AnnotationForm, ticked
from filters.annotations.tasks import append_soon
from filters.lists import listing
from filters.message import reading
from filters.templatetags.mail import message_address


@require_safe
def message(request: PersonRequest) -> HttpResponse:
    """Show the message that ``id`` names and mark it read; htmx gets it without the frame.

    HEAD shows it to nobody, and marks nothing.  ``in`` names the audience whose copy is
    meant, if there are several.
    """
    shown = _reading(request, request.GET.get("id", ""), request.GET.get("in"))
    news = request.method == "GET" and listing.mark_read(request.user, shown.message.msgid)
    if not wants_fragment(request):
        return render(request, "filters/message/message.html", {"reading": shown})
    response = render(request, "filters/message/_message.html", {"reading": shown})
    if news:
        response["HX-Trigger-After-Settle"] = "read"
    return response


@require_POST
def annotate(request: PersonRequest) -> HttpResponse:
    """Keep what a person says of a message or takes back, show it, and have it appended soon.

    What is refused is shown with the reason: to htmx with 422, as it draws that, else with 400.
    """
    form = AnnotationForm(request.POST)
    msgid, audience = request.POST.get("id", ""), request.POST.get("audience")
    shown = _reading(request, msgid, audience)
    if not form.is_valid():
        return _refused(request, shown, form)
    given = form.cleaned_data
    opinions.keep(request.user, shown.message, shown.mine, given)
    queued = append_soon()
    if not wants_fragment(request):
        return redirect(message_address(shown.message.msgid, shown.message.audience))
    updated = replace(shown)  # The same copy, of which everything else is read anew.
    context = {"reading": updated, "queued": queued, "ticked": ticked(request.POST)}
    return render(request, "filters/reading/_standing.html", context)


def _refused(request: PersonRequest, shown: reading.Reading, form: AnnotationForm) -> HttpResponse:
    context = {
        "reading": shown,
        "refusal": form.refusal(),
        "refused": form.data.get("kind", ""),
        "typed": form.data.get("value", ""),
        "is_text_refused": "value" in form.errors,
        "ticked": ticked(request.POST),
    }
    if wants_fragment(request):
        return render(request, "filters/reading/_standing.html", context, status=422)
    return render(request, "filters/message/message.html", context, status=400)


def _reading(request: PersonRequest, msgid: str, audience: str | None) -> reading.Reading:
    shows_all = "all" in request.GET
    shown = reading.read(request.user, msgid, audience, shows_all=shows_all)
    if shown is None:
        raise Http404("There is no such message, or you may not see it.")
    return shown
