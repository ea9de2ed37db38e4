"""Samples: what a destination would send of the newest matches, to be seen or to be sent once.

    asked for ─ Trial ─> task on the queue of the way ─ sent ─> Delivery with the answer

A sample moves no cursor.  Its key begins with ``sample-``, and it counts as no filter's delivery.
"""

from __future__ import annotations

import uuid
from typing import Any

from django.db import transaction

from filters.delivery import sending
from filters.delivery.batches import delivered
from filters.delivery.mail.addresses import is_usable
from filters.delivery.models import Delivery, Destination
from filters.delivery.ways.way import Preview
from filters.inbox.models import Match
from filters.people import people
from filters.people.models import User
from filters.sources.accounts.trials import Answer
from tapestry.core.clock import MINUTE, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.deliver.batch import Batch, LaterError

KEY = "sample-"
SUBJECT = "sample"
MOST = 5
"""Matches of a sample."""

EVERY = MINUTE
"""How long after a sample another may be sent to the same destination."""

_DELETED = "It was deleted meanwhile."


def new_key() -> str:
    return f"{KEY}{uuid.uuid4().hex}"


def sample(destination: Destination, key: str) -> Batch:
    """Return the newest released matches of a destination's filters, as its owner sees them."""
    owner = destination.owner
    audiences = people.audiences(owner)
    stored = Match.objects.released_for(audiences).unmuted(owner)
    if destination.all_filters:
        stored = stored.filter(filter__owner=owner)
    else:
        stored = stored.filter(filter__subscriptions__destination=destination)
    most = min(MOST, destination.way.most or MOST)
    newest = list(stored.order_by("-sequence").values_list("pk", "sequence")[:most])
    matches = delivered(stored.filter(pk__in=[pk for pk, _ in newest]), audiences, owner.zone)
    positions = [match.sequence for match in matches]
    return Batch(key, min(positions, default=1) - 1, max(positions, default=0), matches)


def preview(destination: Destination) -> Preview | None:
    """Return what a destination would send of its newest matches; None if there are none.

    Raise TapestryError if its way cannot show it, or a message is being made ready.
    """
    batch = _new_sample(destination)
    return destination.way.preview(destination, batch) if batch.matches else None


def ready(destination: Destination) -> Batch:
    """Return a sample that may be sent now.

    Raise TapestryError if there is nothing to send yet, nowhere to, or one was sent a moment ago.
    """
    if not is_usable(destination.address):
        raise TapestryError(
            f"Nothing is sent to {destination.address} before you confirm that it is yours.",
            hint="Open the link that we sent there.",
        )
    batch, now = _new_sample(destination), wall_clock()
    if not batch.matches:
        raise TapestryError(
            "There is nothing to send yet.", hint="Wait until one of its filters finds a message."
        )
    samples = destination.deliveries.filter(key__startswith=KEY)
    if samples.filter(at__gt=now - EVERY, at__lte=now).exists():
        raise TapestryError("One was sent within this minute.", hint="Wait a little.")
    return batch


def send(owner: User, question: dict[str, Any]) -> Answer:
    """Send a sample to a destination of its owner, in the worker, and store what was answered."""
    rows = Destination.objects.filter(owner=owner, pk=question["destination"])
    destination = rows.select_related("owner", "address__owner").first()
    if destination is None:
        raise TapestryError(_DELETED)
    batch = ready(destination)
    with transaction.atomic():
        if not rows.select_for_update().exists():
            raise TapestryError(_DELETED)
        row = destination.deliveries.create(  # until it is answered, it counts as not sent
            key=batch.key,
            at=wall_clock(),
            state=Delivery.State.RETRY,
            matches=len(batch.matches),
        )
    destination.holder = ""  # in memory: a way does not advance the cursor for a sample
    outcome = sending.send(destination, batch)
    Delivery.objects.filter(pk=row.pk).update(state=outcome.state, answer=outcome.answer[:1000])
    event("sample", kind=destination.kind, destination=destination.pk, state=outcome.state)
    return {"url": destination.get_absolute_url()}


def _new_sample(destination: Destination) -> Batch:
    """Return a sample; raise TapestryError if one of its messages is being made ready."""
    try:
        return sample(destination, new_key())
    except LaterError as error:
        raise TapestryError(str(error)) from error
