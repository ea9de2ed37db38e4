"""The destinations of a person: how each is doing, turning it on and off, deleting it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib import messages
from django.db.models import Prefetch, prefetch_related_objects
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from filters.delivery import changes, samples
from filters.delivery.dispatch.history import SHOWN
from filters.delivery.mail import addresses
from filters.delivery.models import Delivery, Destination, KeptMail, Subscription
from filters.delivery.status import Status, status_of
from filters.delivery.views.muted import muted_threads
from filters.delivery.ways.table import WAYS
from filters.people.forms import ProfileForm
from filters.people.requests import PersonRequest, errors_told, form_methods
from filters.runs.store import subscriptions
from filters.site.settings.email_url import is_kept_only
from filters.site.work.db.deleting import delete_locked
from filters.sources.accounts import trials


@dataclass(frozen=True, slots=True)
class Listed:
    """A destination as the list shows it: where it delivers to, which filters, how it is doing."""

    destination: Destination
    where: str
    filters: tuple[str, ...]
    status: Status


@require_safe
def destinations(request: PersonRequest) -> HttpResponse:
    """List the destinations of the person, and the kinds that can be added."""
    known = Destination.objects.filter(owner=request.user, kind__in=WAYS)  # by this version
    rows = known.select_related("address__owner")
    context = {
        "destinations": _listed(rows),
        "ways": WAYS.values(),
        "has_kept_mail": KeptMail.objects.filter(owner=request.user).exists(),
        "muted": muted_threads(request.user),
        "times": ProfileForm.initial_of(request.user),
        "is_kept_only": is_kept_only(),
    }
    return render(request, "delivery/destinations.html", context)


@require_safe
def destination(request: PersonRequest, pk: int) -> HttpResponse:
    """Show a destination: what it takes, how it is doing, its last deliveries."""
    shown = destination_of(request, pk)
    rows = last(shown)
    context = {
        "destination": shown,
        "listed": _listed([shown])[0],
        "deliveries": [(row, row.key.startswith(samples.KEY), _state(row)) for row in rows],
        "trial": trials.open_one(request.user, f"{samples.SUBJECT}:{shown.pk}"),
    }
    return render(request, "delivery/destination.html", context)


@require_POST
def turn_on(request: PersonRequest, pk: int) -> HttpResponse:
    """Deliver to a destination again, beginning at once with what waits."""
    resumed = destination_of(request, pk)
    subscriptions.turn_on(resumed)
    return redirect(resumed)


@require_POST
def turn_off(request: PersonRequest, pk: int) -> HttpResponse:
    """Deliver nothing more to a destination; what is found waits until it is turned on."""
    paused = destination_of(request, pk)
    changes.turn_off(paused)
    return redirect(paused)


@require_POST
def send_link(request: PersonRequest, pk: int) -> HttpResponse:
    """Send the link that confirms the address of a destination, again."""
    asked = destination_of(request, pk)
    if asked.address is not None:
        ask_for_confirmation(request, asked)
    return redirect(asked)


@form_methods
def delete(request: PersonRequest, pk: int) -> HttpResponse:
    """Ask, then delete a destination; what it has delivered stays where it is."""
    doomed = destination_of(request, pk)
    if request.method == "POST":
        messages.success(request, f"Nothing is sent to {doomed} any more.")
        delete_locked(Destination.objects.filter(pk=doomed.pk))
        return redirect("destinations")
    return render(request, "delivery/delete.html", {"destination": doomed})


def destination_of(request: PersonRequest, pk: int) -> Destination:
    """Return a destination of the person who asks; 404 for those of others."""
    rows = Destination.objects.filter(kind__in=WAYS).select_related("owner", "address__owner")
    return get_object_or_404(rows, owner=request.user, pk=pk)


def ask_for_confirmation(request: PersonRequest, asked: Destination) -> None:
    """Send the link that confirms an address; the page of the destination says so, or why not."""
    assert asked.address is not None
    with errors_told(request):
        addresses.send_link(asked.address)


def last(of: Destination) -> list[Delivery]:
    """Return the last deliveries of a destination, the newest first."""
    return list(of.deliveries.all()[:SHOWN])


def _listed(rows: Iterable[Destination]) -> list[Listed]:
    shown = list(rows)
    # In one query: a filter may be deleted between two.
    chosen = Prefetch("subscriptions", Subscription.objects.select_related("filter"))
    prefetch_related_objects(shown, chosen)
    return [Listed(row, row.where, _names(row), status_of(row)) for row in shown]


def _names(row: Destination) -> tuple[str, ...]:
    chosen = () if row.all_filters else row.subscriptions.all()
    return tuple(sorted(subscription.filter.display_name for subscription in chosen))


def _state(row: Delivery) -> str:
    """Return how a delivery went, in words; a sample that failed is not tried again."""
    is_failed_sample = row.key.startswith(samples.KEY) and row.state == Delivery.State.RETRY
    return "not sent" if is_failed_sample else str(row.get_state_display())
