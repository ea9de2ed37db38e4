"""Deliver to destinations that are due: claim, send, confirm."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Collection, Sequence

from filters.delivery import claims, holder, throttle, ways
from filters.delivery.batches import batches_of
from filters.delivery.claims import Claim
from tapestry.core.backoff import pause_after
from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.deliver.batch import Batch, Outcome

log = logging.getLogger(__name__)

TURN = 20.0
"""Seconds after which a call claims no more; what is left is for the next one."""


def deliver(kinds: Collection[str], at_once: int) -> int:
    """Deliver to destinations of some kinds until none is due; return how many batches were sent.

    So many are claimed at once.  After ``TURN`` seconds it ends, though more may be due.
    """
    delivered, end = 0, time.monotonic() + TURN
    claims.free_abandoned()
    while keys := claims.due(kinds, at_once):
        with holder.claiming() as name:
            claimed = claims.claim(name, keys, ways.most())
            delivered += _deliver_all(claimed)
        if not claimed or time.monotonic() > end:
            break
    return delivered


def _deliver_all(claimed: Sequence[Claim]) -> int:
    waits = throttle.waits([claim.destination for claim in claimed])
    ready = [claim for claim in claimed if claim.destination.pk not in waits]
    for claim in claimed:
        if claim.destination.pk in waits:
            claims.give_back(claim, waits[claim.destination.pk])
    batches = batches_of(ready)
    return sum(_deliver(claim, batches[claim.destination.pk]) for claim in ready)


def _deliver(claim: Claim, batch: Batch) -> bool:
    began = time.monotonic()
    by_filter = Counter(match.filter_id for match in batch.matches)
    outcome = _attempt(claim, batch) if batch.matches else Outcome("delivered")
    if outcome.state == "delivered":
        kept = claims.confirm(claim, outcome, by_filter)
    elif outcome.state == "refused":
        kept = claims.refuse(claim, outcome, by_filter)
    else:
        kept = claims.fail(claim, outcome, by_filter, _seconds_until_next(claim, outcome))
    if batch.matches:
        event(
            log,
            "delivered" if outcome.state == "delivered" else "not_delivered",
            kind=claim.destination.kind,
            destination=claim.destination.pk,
            matches=len(batch.matches),
            state=outcome.state,
            kept=kept,
            seconds=time.monotonic() - began,
        )
    return outcome.state == "delivered"


def _attempt(claim: Claim, batch: Batch) -> Outcome:
    try:
        return ways.WAYS[claim.destination.kind].send(claim.destination, batch)
    except TapestryError as error:
        return Outcome("retry", error.message)
    except Exception:
        log.exception("destination %s", claim.destination.pk)
        return Outcome("retry", "It failed here; the worker's log says why.")


def _seconds_until_next(claim: Claim, outcome: Outcome) -> float:
    """Return the seconds until the next attempt: as the other side asks, else with backoff."""
    if outcome.retry_after is not None:
        return outcome.retry_after
    return pause_after(claim.destination.failures + 1)
