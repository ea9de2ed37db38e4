"""Send the messages of a batch one after another, for ways that carry one at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from filters.delivery.dispatch import claims
from filters.delivery.models import Destination
from tapestry.deliver.batch import Batch, DeliveredMatch, Outcome

TAKEN_OVER = Outcome("retry", "Another worker has taken over.")


def one_by_one(
    destination: Destination,
    batch: Batch,
    send: Callable[[DeliveredMatch], Outcome],
    receiver: str,
    without: Collection[int] = (),
) -> Outcome:
    """Send each message that entered a list, except those of the filters ``without``.

    After each message the cursor advances: what was sent is not sent again.  The first that
    is not delivered ends it.  When the turn is over the rest waits for the next.  The answer says
    how many the ``receiver`` took.
    """
    sent, entered, end = 0, batch.entered(), time.monotonic() + batch.seconds
    for match in entered:
        if match.filter_id not in without:
            outcome = send(match)
            if outcome.state != "delivered":
                return outcome
            sent += 1
        if not claims.advance(destination, match.sequence):
            return TAKEN_OVER
        if sent and time.monotonic() >= end and match is not entered[-1]:
            more = f"{receiver} took {sent:,}. More are on their way."
            return Outcome("delivered", more, until=match.sequence)
    return Outcome("delivered", f"{receiver} took {sent:,}.")
