"""Samples: what a destination would send of the newest matches, to be seen or to be sent once.

    asked for ─ Delivery "being sent" ─> task on the queue of the way ─ answer ─> Delivery

A sample moves no cursor.  Its key begins with ``sample-``, and it counts as no filter's delivery.
"""

from __future__ import annotations

import logging
import uuid

from django.db import transaction

from filters.delivery import sending
from filters.delivery.batches import delivered
from filters.delivery.mail.addresses import is_usable
from filters.delivery.models import Delivery, Destination
from filters.delivery.ways.preview import Preview
from filters.delivery.ways.table import WAYS
from filters.inbox.models import Match
from filters.people import people
from filters.runs.models import SetAside
from filters.site.work import set_aside
from tapestry.core.clock import MINUTE, SECOND, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.deliver.batch import Batch, LaterError, Outcome

log = logging.getLogger(__name__)

KEY = "sample-"
MOST = 5
"""Matches of a sample."""

EVERY = MINUTE
"""How long after a sample another may be sent to the same destination."""

EXPIRES = 60
"""Seconds after which a worker no longer takes up a sample."""


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
    most = min(MOST, WAYS[destination.kind].most or MOST)
    newest = list(stored.order_by("-sequence").values_list("pk", "sequence")[:most])
    matches = delivered(stored.filter(pk__in=[pk for pk, _ in newest]), audiences, owner.zone)
    positions = [match.sequence for match in matches]
    return Batch(key, min(positions, default=1) - 1, max(positions, default=0), matches)


def preview(destination: Destination) -> Preview | None:
    """Return what a destination would send of its newest matches; None if there are none.

    Raise TapestryError if its way cannot show it, or a message is being made ready.
    """
    batch = _new_sample(destination)
    return WAYS[destination.kind].preview(destination, batch) if batch.matches else None


def request_sample(destination: Destination) -> Delivery:
    """Store that a sample is to be sent, and return its row.

    Raise TapestryError if there is nothing to send yet, nowhere to, or one was sent a moment ago.
    """
    if not is_usable(destination.address):
        raise TapestryError(
            f"Nothing is sent to {destination.address} before you confirm that it is yours.",
            hint="Open the link that we sent there.",
        )
    batch = _new_sample(destination)
    if not batch.matches:
        raise TapestryError(
            "There is nothing to send yet.", hint="Wait until one of its filters finds a message."
        )
    now = wall_clock()
    with transaction.atomic():
        # Of two requests at one time the second sees what the first has stored.
        if Destination.objects.select_for_update().filter(pk=destination.pk).first() is None:
            raise TapestryError("It was deleted meanwhile.")
        samples = destination.deliveries.filter(key__startswith=KEY)
        if samples.filter(at__gt=now - EVERY, at__lte=now).exists():
            raise TapestryError("One was sent within this minute.", hint="Wait a little.")
        return Delivery.objects.create(
            destination=destination,
            key=batch.key,
            at=now,
            state=Delivery.State.SENDING,
            matches=len(batch.matches),
        )


def _new_sample(destination: Destination) -> Batch:
    """Return a sample; raise TapestryError if one of its messages is being made ready."""
    try:
        return sample(destination, new_key())
    except LaterError as error:
        raise TapestryError(str(error)) from error


def send_sample(key: int) -> None:
    """Send the sample of a row, and store what was answered; do nothing if it was sent before."""
    rows = Delivery.objects.filter(pk=key, state=Delivery.State.SENDING)
    row = rows.select_related("destination__owner", "destination__address").first()
    if row is None:
        return
    destination = row.destination
    destination.holder = ""  # in memory: a way does not advance the cursor for a sample
    count, kind, aside = row.matches, SetAside.Kind.DESTINATION, f"{destination.pk}/sample"
    try:
        batch = sample(destination, row.key)
        count = len(batch.matches)
        if not batch.matches or not is_usable(destination.address):
            outcome = Outcome("refused", "Nothing was sent: there is nothing left that may be.")
        else:
            outcome = sending.send(destination, batch)
        set_aside.clear(kind, [aside])
    except LaterError as error:
        outcome = Outcome("retry", str(error))
    except Exception as error:
        outcome = Outcome("retry", set_aside.record(kind, aside, error, set_aside.ASK_AGAIN).reason)
    rows.update(state=outcome.state, matches=count, answer=outcome.answer[:1000])
    event(log, "sample", kind=destination.kind, destination=destination.pk, state=outcome.state)


def is_being_sent(delivery: Delivery) -> bool:
    """Tell whether a delivery is a sample that a worker may still send."""
    waiting = delivery.key.startswith(KEY) and delivery.state == Delivery.State.SENDING
    return waiting and not is_overdue(delivery)


def is_overdue(delivery: Delivery) -> bool:
    """Tell whether no worker has taken up a sample in time."""
    waiting = delivery.state == Delivery.State.SENDING
    return waiting and delivery.at < wall_clock() - 2 * EXPIRES * SECOND
