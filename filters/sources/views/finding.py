"""The part of a page that finds a server: an address, and what is suggested for it."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import redirect

from filters.people.requests import PersonRequest
from filters.sources.accounts import trials
from filters.sources.accounts.finding import (
    AddressForm,
    Suggestion,
    find,
    known,
    suggested,
    usual_address,
)
from filters.sources.models import Trial
from tapestry.core.errors import TapestryError
from tapestry.servers.discovery.server_settings import Protocol


@dataclass(frozen=True, slots=True)
class Finding:
    """How far it is: ``trial`` is one that is under way, or has failed.

    ``is_tried``: the server of the suggestion has been sent off to be tried.
    """

    form: AddressForm
    suggestion: Suggestion | None = None
    trial: Trial | None = None
    is_tried: bool = False


def is_asked(request: PersonRequest) -> bool:
    """Tell whether a form asks for the server of an address."""
    return request.method == "POST" and "find" in request.POST


def find_server(request: PersonRequest, protocol: Protocol) -> Finding | HttpResponse:
    """Find the server of the address that was given, or say how far that is.

    Return the redirect to the page that follows the lookups if they have been begun.
    """
    if request.method == "POST" and not is_asked(request):
        return _tried(request, protocol)
    if request.method != "POST":
        return _followed(request, protocol)
    form = AddressForm(request.POST)
    if not form.is_valid():
        return Finding(form)
    address = form.cleaned_data["address"]
    at_once = known(address, protocol)
    if at_once is not None:
        return Finding(form, at_once)
    question = {"protocol": protocol, "address": address, "page": request.path}
    try:
        trial = trials.begin(request.user, f"find:{protocol}", find, question)
    except TapestryError as error:
        form.add_error(None, error.sentences)
        return Finding(form)
    return redirect(f"{request.path}?trial={trial.pk}")


def _followed(request: PersonRequest, protocol: Protocol) -> Finding:
    trial = trials.named(request.user, request.GET.get("trial", ""), f"find:{protocol}")
    address = usual_address(request.user, protocol)
    if trial is not None:
        suggestion = suggested(trial)
    else:  # a mailbox may be another; mail is sent by the usual one
        suggestion = known(address, protocol) if protocol == "smtp" else None
    address = suggestion.address if suggestion else address
    form = AddressForm(initial={"address": address})
    return Finding(form, suggestion, trial if suggestion is None else None)


def _tried(request: PersonRequest, protocol: Protocol) -> Finding:
    """Return the help of the provider whose server is tried, which may refuse the password."""
    address = request.POST.get("user", "")
    suggestion = known(address, protocol)
    is_same = suggestion is not None and suggestion.initial["host"] == request.POST.get("host")
    form = AddressForm(initial={"address": address})
    return Finding(form, suggestion if is_same else None, is_tried=True)
