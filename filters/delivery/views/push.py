"""The browsers that notify a person: a page that lists them, and where one asks and is removed."""

from __future__ import annotations

import json

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from filters.delivery.models import Destination
from filters.delivery.ways.browser_name import browser_name
from filters.delivery.ways.push import browsers_of
from filters.delivery.ways.push import subscribe as subscribe_browser
from filters.delivery.ways.vapid import vapid_keys
from filters.people.requests import PersonRequest
from filters.people.signing_in.this_browser import this_browser
from filters.site.work.db.deleting import delete_locked
from tapestry.core.errors import TapestryError
from tapestry.deliver.http.push_keys import PushSubscription, read_subscription

LONGEST = 5000
"""Characters of a subscription."""


@require_safe
def browsers(request: PersonRequest) -> HttpResponse:
    """Show the browsers that notify a person, and the button by which this one does."""
    return _page(request)


@sensitive_post_parameters("subscription")
@require_POST
def subscribe(request: PersonRequest) -> HttpResponse:
    """Notify the browser that asks, by the subscription that it sends."""
    try:
        subscription = _subscription(request.POST.get("subscription", ""))
        name = browser_name(request.headers.get("User-Agent", ""))
        subscribe_browser(request.user, subscription, name, this_browser(request))
    except TapestryError as error:
        messages.error(request, error.sentences, extra_tags="bad")
        return _page(request, status=400)
    messages.success(request, "This browser notifies you of new matches from now on.")
    return redirect("push")


@require_POST
def remove(request: PersonRequest, pk: int) -> HttpResponse:
    """Notify a browser no longer."""
    own = get_object_or_404(Destination, owner=request.user, kind="push", pk=pk)
    messages.success(request, f"{own.name} no longer notifies you.")
    delete_locked(Destination.objects.filter(pk=own.pk))
    return redirect("push")


def _subscription(text: str) -> PushSubscription:
    """Return the subscription in a text; raise TapestryError if it is none."""
    try:
        document = json.loads(text) if len(text) <= LONGEST else None
    except (ValueError, RecursionError):
        document = None
    return read_subscription(document)


def _page(request: PersonRequest, status: int = 200) -> HttpResponse:
    context = {
        "browsers": browsers_of(request.user),
        "public_key": vapid_keys().public_key,
    }
    return render(request, "delivery/push.html", context, status=status)
