"""Adding a destination, and changing one."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters

from filters.delivery import changes
from filters.delivery.forms.base import DestinationForm
from filters.delivery.models import Destination
from filters.delivery.tasks import try_destination
from filters.delivery.views.destinations import ask_for_confirmation, destination_of
from filters.delivery.ways.table import WAYS
from filters.people.requests import PersonRequest, form_methods
from filters.sources.forms import ServerForm
from filters.sources.models import Trial
from filters.sources.views.finding import Finding, find_server, is_asked
from filters.sources.views.trials import tried


@sensitive_post_parameters("secret")
@form_methods
def add(request: PersonRequest, kind: str) -> HttpResponse:
    """Describe a new destination, and store it: it takes the matches released from now on."""
    if kind not in WAYS or WAYS[kind].page:
        raise Http404("There is no such kind of destination.")
    return _write(request, Destination(owner=request.user, kind=kind))


@sensitive_post_parameters("secret")
@form_methods
def edit(request: PersonRequest, pk: int) -> HttpResponse:
    """Change the settings and the filters of a destination."""
    return _write(request, destination_of(request, pk))


def _write(request: PersonRequest, destination: Destination) -> HttpResponse:
    kind, is_new = destination.way.form, destination.pk is None
    finding = find_server(request, "imap") if is_new and issubclass(kind, ServerForm) else None
    if isinstance(finding, HttpResponse):
        return finding
    data = request.POST if request.method == "POST" and not is_asked(request) else None
    given = {"suggested": finding.suggestion.initial} if finding and finding.suggestion else {}
    form = kind(data, destination=destination, **given)
    if not form.is_valid():
        return _page(request, form, finding=finding)
    if form.is_tried:
        return _try(request, form, finding)
    stored, is_to_be_confirmed = changes.store(form)
    if is_to_be_confirmed:
        ask_for_confirmation(request, stored)
    else:
        messages.success(request, f"{stored.name} is {'added' if is_new else 'changed'}.")
    return redirect(stored)


def _try(request: PersonRequest, form: DestinationForm, finding: Finding | None) -> HttpResponse:
    """Have the worker try what was given, and store it then; the page waits for it."""
    subject, question = changes.question_of(form.destination, request.POST)
    following, trial = tried(request, form, subject, question, try_destination)
    return following or _page(request, form, trial, finding)


def _page(
    request: PersonRequest,
    form: DestinationForm,
    trial: Trial | None = None,
    finding: Finding | None = None,
) -> HttpResponse:
    context = {
        "form": form,
        "destination": form.destination,
        "trial": trial,
        "finding": finding,
    }
    status = 400 if form.errors or (finding and finding.form.errors) else 200
    return render(request, "delivery/write.html", context, status=status)
