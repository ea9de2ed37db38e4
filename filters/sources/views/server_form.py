"""The page of a form of a server: found by an address, tried by the worker, then stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django import forms
from django.http import HttpResponse, QueryDict
from django.shortcuts import render

from filters.people.requests import PersonRequest
from filters.sources.accounts.trials import Asked
from filters.sources.models import Trial
from filters.sources.views.finding import Finding, find_server, is_asked
from filters.sources.views.trials import tried
from tapestry.servers.discovery.server_settings import Protocol

Form = TypeVar("Form", bound=forms.Form)


def server_page(
    request: PersonRequest,
    template: str,
    protocol: Protocol | None,
    form_of: Callable[[QueryDict | None, Mapping[str, Any]], Form],
    ask: Callable[[Form], Asked | HttpResponse],
    **context: Any,
) -> HttpResponse:
    """Show the form of a server, have the worker try what was given, and lead to what follows.

    Its server can be found by an address, if there is a ``protocol``.  ``form_of`` takes what was
    sent, if anything, and what is suggested.  ``ask`` returns what the worker is asked of a valid
    form, or the answer if there is nothing to try.
    """
    finding = find_server(request, protocol) if protocol else None
    if isinstance(finding, HttpResponse):
        return finding
    data = request.POST if request.method == "POST" and not is_asked(request) else None
    suggestion, trial = finding.suggestion if finding else None, None
    form = form_of(data, suggestion.initial if suggestion else {})
    if form.is_valid():
        asked = ask(form)
        if isinstance(asked, HttpResponse):
            return asked
        following, trial = tried(request, form, asked)
        if following is not None:
            return following
    by_hand = form.is_bound or trial is not None or _has_ended(finding)
    context |= {"form": form, "trial": trial, "finding": finding, "by_hand": by_hand}
    status = 400 if form.errors or (finding and finding.form.errors) else 200
    return render(request, template, context, status=status)


def _has_ended(finding: Finding | None) -> bool:
    """Tell whether a server was found, or none could be: the form is shown open then."""
    if finding is None:
        return False
    trial: Trial | None = finding.trial
    return finding.suggestion is not None or (trial is not None and trial.ended_at is not None)
