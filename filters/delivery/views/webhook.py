"""The secret of a webhook: shown once, when it is made."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache

from filters.delivery.models import Destination
from filters.delivery.ways.webhook import renew_secret
from filters.people.requests import PersonRequest, form_methods


@never_cache
@form_methods
def secret(request: PersonRequest, pk: int) -> HttpResponse:
    """Ask, then make a new secret of a webhook and show it this once."""
    webhook = get_object_or_404(Destination, owner=request.user, kind="webhook", pk=pk)
    context = {
        "webhook": webhook,
        "secret": renew_secret(webhook) if request.method == "POST" else "",
    }
    return render(request, "delivery/webhook_secret.html", context)
