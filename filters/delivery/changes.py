"""Changes of destinations and feeds that a person asks for, on a page or by a program."""

from __future__ import annotations

from django.db import transaction
from django.http import QueryDict
from django.shortcuts import get_object_or_404

from filters.authoring.models import Filter
from filters.delivery import samples, trial
from filters.delivery.forms.base import DestinationForm
from filters.delivery.mail.addresses import is_usable, was_asked
from filters.delivery.models import Destination, Feed, new_feed_token
from filters.people.models import User
from filters.sources.accounts import trials
from filters.sources.models import Trial


def question_of(destination: Destination, data: QueryDict) -> trials.Asked:
    """Return the trial that stores what a valid form sent."""
    question = {"destination": destination.pk, "kind": destination.kind, "data": data.urlencode()}
    return f"destination:{destination.pk or 'new'}", trial.write, question


def store(form: DestinationForm) -> tuple[Destination, bool]:
    """Store what a valid form says; return it, and whether its address is to be confirmed now."""
    before, is_new = form.destination.address_id, form.destination.pk is None
    stored = form.store()
    address = stored.address
    changed = is_new or before != stored.address_id
    is_unconfirmed = address is not None and not is_usable(address) and not was_asked(address)
    return stored, changed and is_unconfirmed


def turn_off(destination: Destination) -> None:
    """Deliver nothing more to a destination; what is found waits until it is turned on."""
    Destination.objects.filter(pk=destination.pk).update(active=False)


def begin_sample(destination: Destination) -> Trial:
    """Have a worker send what the preview shows; raise TapestryError if nothing can be sent now."""
    samples.ready(destination)
    return trials.begin(
        destination.owner,
        f"{samples.SUBJECT}:{destination.pk}",
        samples.send,
        {"destination": destination.pk},
        queue=destination.way.queue,
    )


def make_feed(owner: User, name: str) -> Feed:
    """Return the feed of a filter, or that of all filters for ""; raise Http404 for no filter."""
    filter_ = None
    with transaction.atomic():
        if name:
            filters = Filter.objects.select_for_update(no_key=True)  # not deleted before the end
            filter_ = get_object_or_404(filters, owner=owner, name=name)
        return Feed.objects.get_or_create(owner=owner, filter=filter_)[0]


def move_feed(feed: Feed) -> None:
    """Give a feed another address; nothing is at the old one from now on."""
    Feed.objects.filter(pk=feed.pk).update(token=new_feed_token())
