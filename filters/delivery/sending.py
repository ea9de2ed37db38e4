"""Deliver to destinations that are due: claim, send, confirm."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from filters.delivery import claims, holder, throttle
from filters.delivery.batches import CardsBeingMadeError, batches_of
from filters.delivery.claims import Attempt, Claim
from filters.delivery.ways import table as ways
from filters.models import Destination
from tapestry.core.clock import SECOND, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.deliver.batch import Batch, Outcome
from tapestry.deliver.timing.backoff import LONGEST, next_try

log = logging.getLogger(__name__)

FAILED_HERE = "It failed here; the worker's log says why."

SPREAD = 4
"""Times as many as it claims that a thread looks at."""

SOON = 1.0
"""Seconds after which a batch is composed again, whose messages are being copied again."""

TOGETHER = 0.1
"""Seconds within which what was sent is confirmed, with all that was sent after it.

After a crash so much may be sent a second time, by ways that cannot be asked."""

ROUND = 5.0
"""Seconds of all that are claimed at once, shared by them; what is left has another turn."""

TURN = 20.0
"""Seconds after which a call claims no more; what is left is for the next one."""

SOONEST = 5.0
"""Seconds before the next try, at least."""

TURNED_OFF = (
    "It failed for three days and was turned off. Turn it on again: what waits is sent then."
)


def deliver(kinds: Collection[str], at_once: int, most_an_owner: int | None = None) -> int:
    """Deliver to destinations of some kinds until none is due; return how many batches were sent.

    So many are claimed at once.  After ``TURN`` seconds it ends, though more may be due.
    """
    delivered, end = 0, time.monotonic() + TURN
    claims.free_abandoned()
    while keys := claims.due(kinds, SPREAD * at_once, most_an_owner):
        # Other threads see the same ones: each tries some of them by lot.
        drawn = claims.drawn(keys, at_once)
        with holder.claiming() as name:
            delivered += _deliver_all(claims.claim(name, drawn, ways.most()))
        if time.monotonic() > end:
            break
    return delivered


def _deliver_all(claimed: Sequence[Claim]) -> int:
    """Deliver to claimed destinations; return how many batches were sent.

    Those that were sent shortly after one another are confirmed together.  Those that have not
    begun when the round is over are due again.
    """
    waits = throttle.waits([claim.destination for claim in claimed])
    ready = [claim for claim in claimed if claim.destination.pk not in waits]
    for claim in claimed:
        if claim.destination.pk in waits:
            claims.give_back(claim, (waits[claim.destination.pk].until - wall_clock()) / SECOND)
    sent, unconfirmed, first, begun = 0, list[Attempt](), 0.0, None
    try:
        for claim, batch in _composed(ready):
            if begun is None:
                begun = time.monotonic()
            elif time.monotonic() > begun + ROUND:
                claims.give_back(claim, 0.0)
                continue
            attempt = _attempt(claim, replace(batch, seconds=ROUND / len(ready)))
            if attempt.outcome.state != "delivered":
                _put_off(attempt)
                continue
            sent += 1
            first = first if unconfirmed else time.monotonic()
            unconfirmed.append(attempt)
            if time.monotonic() > first + TOGETHER:
                _confirm(unconfirmed)
                unconfirmed = []
    finally:
        _confirm(unconfirmed)
    return sent


def _composed(claimed: Sequence[Claim]) -> Iterator[tuple[Claim, Batch]]:
    """Yield claims with their batches; one whose batch cannot be made holds up no other."""
    try:
        batches = batches_of(claimed)
    except Exception:
        batches = {}
    for claim in claimed:
        try:
            batch = batches.get(claim.destination.pk) or batches_of([claim])[claim.destination.pk]
        except CardsBeingMadeError:
            claims.give_back(claim, SOON)
        except Exception:
            log.exception("destination %s", claim.destination.pk)
            outcome = Outcome("retry", FAILED_HERE)
            seconds = _seconds_until_next(claim, outcome) or LONGEST
            claims.fail(Attempt(claim, outcome), seconds)
        else:
            yield claim, batch


def _attempt(claim: Claim, batch: Batch) -> Attempt:
    outcome = send(claim.destination, batch) if batch.matches else Outcome("delivered")
    until = batch.until if outcome.until is None else outcome.until
    counts = Counter(match.filter_id for match in batch.matches if match.sequence <= until)
    return Attempt(claim, outcome, counts)


def _confirm(attempts: Sequence[Attempt]) -> None:
    kept = claims.confirm(attempts) if attempts else set()
    for attempt in attempts:
        _log(attempt, attempt.claim.destination.pk in kept)


def _put_off(attempt: Attempt) -> None:
    """Store what becomes of a claim whose batch was not delivered."""
    claim, outcome = attempt.claim, attempt.outcome
    if outcome.state == "refused":
        kept = claims.refuse(attempt)
    elif (seconds := _seconds_until_next(claim, outcome)) is not None:
        reopens = ways.WAYS[claim.destination.kind].reopens
        kept = claims.fail(attempt, seconds, reopen=reopens)
    else:
        outcome = Outcome("refused", f"{TURNED_OFF} {outcome.answer}".strip())
        attempt = replace(attempt, outcome=outcome)
        kept = claims.refuse(attempt)
    _log(attempt, kept)


def _log(attempt: Attempt, kept: bool) -> None:
    if attempt.counts:
        destination = attempt.claim.destination
        event(
            log,
            "delivered" if attempt.outcome.state == "delivered" else "not_delivered",
            kind=destination.kind,
            destination=destination.pk,
            matches=sum(attempt.counts.values()),
            state=attempt.outcome.state,
            kept=kept,
        )


def send(destination: Destination, batch: Batch) -> Outcome:
    """Send a batch by the way of a destination; an error is an outcome to be tried again."""
    try:
        return ways.WAYS[destination.kind].send(destination, batch)
    except TapestryError as error:
        return Outcome("retry", error.message)
    except Exception:
        log.exception("destination %s", destination.pk)
        return Outcome("retry", FAILED_HERE)


def _seconds_until_next(claim: Claim, outcome: Outcome) -> float | None:
    """Return the seconds until the next attempt, None if the destination is to be turned off.

    Where our own mail server is the one that fails, it is tried for ever.
    """
    now = wall_clock()
    instant = next_try(
        now,
        claim.destination.failing_since or now,
        claim.destination.failures + 1,
        retry_after=max(outcome.retry_after or 0.0, SOONEST),
        seed=claim.key,
    )
    if instant is not None:
        return (instant - now) / SECOND
    return LONGEST if ways.WAYS[claim.destination.kind].queue == ways.MAIL else None
