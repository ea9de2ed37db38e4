"""Deliver to destinations that are due: claim, send, confirm."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Collection

from filters.delivery import claims, throttle, ways
from filters.delivery.batches import batch_of
from filters.delivery.claims import Claim
from tapestry.core.clock import SECOND, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.deliver.backoff import next_try
from tapestry.deliver.batch import Batch, Outcome

log = logging.getLogger(__name__)

TURN = 20.0
"""Seconds after which a call claims no more; what is left is for the next one."""

SOONEST = 5.0
"""Seconds before the next try, at least."""

GIVEN_UP = "It was tried for three days and given up. Your lists still have what was in it."


def deliver(kinds: Collection[str], at_once: int) -> int:
    """Deliver to destinations of some kinds until none is due; return how many batches were sent.

    So many are claimed at once.  After ``TURN`` seconds it ends, though more may be due.
    """
    delivered, end = 0, time.monotonic() + TURN
    while keys := claims.due(kinds, at_once):
        claimed = claims.claim(keys, ways.most())
        waits = throttle.waits([claim.destination for claim in claimed])
        for claim in claimed:
            if claim.destination.pk in waits:
                claims.give_back(claim, waits[claim.destination.pk])
            else:
                delivered += _deliver(claim)
        if not claimed or time.monotonic() > end:
            break
    return delivered


def _deliver(claim: Claim) -> bool:
    began = time.monotonic()
    batch = batch_of(claim)
    by_filter = Counter(match.filter_id for match in batch.matches)
    reopens = ways.WAYS[claim.destination.kind].reopens
    outcome = _attempt(claim, batch) if batch.matches else Outcome("delivered")
    if outcome.state == "delivered":
        kept = claims.confirm(claim, outcome, by_filter)
    elif outcome.state == "refused":
        kept = claims.refuse(claim, outcome, by_filter)
    elif (seconds := _seconds_until_next(claim, outcome)) is not None:
        kept = claims.fail(claim, outcome, by_filter, seconds, reopen=reopens)
    else:
        outcome = Outcome("refused", f"{GIVEN_UP} {outcome.answer}".strip())
        if reopens:
            kept = claims.give_up(claim, outcome, batch.matches[0])
        else:
            kept = claims.confirm(claim, outcome, by_filter)
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


def _seconds_until_next(claim: Claim, outcome: Outcome) -> float | None:
    """Return the seconds until the next attempt, None if the delivery is given up."""
    now = wall_clock()
    instant = next_try(
        now,
        claim.destination.failing_since or now,
        claim.destination.failures + 1,
        retry_after=max(outcome.retry_after or 0.0, SOONEST),
        seed=claim.key,
    )
    return None if instant is None else (instant - now) / SECOND
