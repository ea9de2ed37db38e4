"""Adding a destination, and changing one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.views.decorators.debug import sensitive_post_parameters

from filters.delivery import changes
from filters.delivery.forms.base import DestinationForm
from filters.delivery.models import Destination
from filters.delivery.views.destinations import ask_for_confirmation, destination_of
from filters.delivery.ways.table import WAYS
from filters.people.requests import PersonRequest, form_methods
from filters.sources.accounts.trials import Asked
from filters.sources.forms import ServerForm
from filters.sources.views.server_form import server_page
from tapestry.servers.discovery.server_settings import Protocol


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

    def form_of(data: QueryDict | None, suggested: Mapping[str, Any]) -> DestinationForm:
        more = {"suggested": suggested} if suggested else {}
        return kind(data, destination=destination, **more)

    def ask(form: DestinationForm) -> Asked | HttpResponse:
        if form.is_tried:
            return changes.question_of(destination, request.POST)
        stored, is_to_be_confirmed = changes.store(form)
        if is_to_be_confirmed:
            ask_for_confirmation(request, stored)
        else:
            messages.success(request, f"{stored.name} is {'added' if is_new else 'changed'}.")
        return redirect(stored)

    protocol: Protocol | None = "imap" if is_new and issubclass(kind, ServerForm) else None
    page = "delivery/write.html"
    return server_page(request, page, protocol, form_of, ask, destination=destination)
