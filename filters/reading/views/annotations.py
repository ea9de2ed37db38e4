"""What a reader says of a message, takes back, and undoes."""

from __future__ import annotations

from dataclasses import replace

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from filters.people.requests import PersonRequest, wants_fragment
from filters.reading import reading
from filters.reading.annotations import changes, opinions
from filters.reading.annotations.changes import read_change, signed, words_of
from filters.reading.annotations.forms import AnnotationForm, ticked
from filters.reading.tasks import append_soon
from filters.reading.views.message import shown_message
from filters.site.templatetags.mail import message_address
from filters.site.work.toast import TOAST, Toast


@require_POST
def annotate(request: PersonRequest) -> HttpResponse:
    """Keep what a person says of a message or takes back, show it, and have it appended soon.

    What is refused is shown with the reason: to htmx with 422, as it draws that, else with 400.
    """
    form = AnnotationForm(request.POST)
    msgid, audience = request.POST.get("id", ""), request.POST.get("audience")
    shown = shown_message(request, msgid, audience)
    if not form.is_valid():
        return _refused(request, shown, form)
    given = form.cleaned_data
    message = shown.message
    change = opinions.keep(request.user, message.msgid, message.audience, given)
    queued = append_soon()
    toast = Toast()
    if change:
        toast = Toast(words=words_of(change, given), change=signed(request.user, change))
    if not wants_fragment(request):
        if toast:
            request.session[TOAST] = toast
        return redirect(message_address(message.msgid, message.audience))
    updated = replace(shown)  # The same copy, of which everything else is read anew.
    context = {"reading": updated, "queued": queued, "ticked": ticked(request.POST)}
    return render(request, "reading/_annotated.html", context | {"toast": toast})


@require_POST
def undo(request: PersonRequest) -> HttpResponse:
    """Undo a ``change`` that ``annotate`` made; 404 if it is too old, or somebody else's.

    htmx gets what the toast says; the message that is open asks for its votes and tags again.
    """
    change = read_change(request.user, request.POST.get("change", ""))
    visible = reading.find(request.user, change.msgid) if change else []
    if change is None or not visible:
        words = Toast(words="This can no longer be undone.")
        if wants_fragment(request):
            return render(request, "inbox/triage/_said.html", {"toast": words}, status=422)
        raise Http404(words["words"])
    changes.undo(request.user, change)
    append_soon()
    toast = Toast(words="Undone.")
    if not wants_fragment(request):
        request.session[TOAST] = toast
        return redirect(message_address(change.msgid, visible[0].audience))
    response = render(request, "inbox/triage/_said.html", {"toast": toast})
    response["HX-Trigger-After-Swap"] = "annotated"
    return response


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
        return render(request, "reading/rendering/_standing.html", context, status=422)
    return render(request, "reading/message.html", context, status=400)
