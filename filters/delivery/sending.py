"""Deliver to destinations that are due: claim, send, confirm."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from filters.delivery.batches import batches_of
from filters.delivery.dispatch import claims, holder, throttle
from filters.delivery.dispatch.claims import Attempt, Claim
from filters.delivery.models import Destination
from filters.delivery.ways.way import MAIL
from filters.runs.models import SetAside
from filters.site.work import set_aside
from filters.site.work.set_aside import Aside
from tapestry.core.clock import SECOND, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.core.surroundings import is_of_surroundings, is_unforeseen
from tapestry.deliver.batch import Batch, LaterError, Outcome
from tapestry.deliver.timing.backoff import LONGEST, next_try
from tapestry.run.limits.isolation import isolate

log = logging.getLogger(__name__)

DESTINATION = SetAside.Kind.DESTINATION

FAILED_HERE = "It failed here; the worker's log says why."

SPREAD = 4
"""Times as many as it claims that a thread looks at."""

SOON = 1.0
"""Seconds after which something is tried again of which a LaterError was raised."""

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

    So many are claimed at once.  After ``TURN`` seconds it ends, though more may be due.  One that
    raises an error is set aside.
    """
    delivered, end = 0, time.monotonic() + TURN
    claims.free_abandoned()
    while keys := claims.due(kinds, SPREAD * at_once, most_an_owner):
        counts, failures = isolate(lambda some: [_serve(some, at_once)], keys)
        delivered += sum(counts)
        for key, error in failures:
            _set_aside(key, "", error)
        if time.monotonic() > end:
            break
    return delivered


def _serve(keys: Collection[int], at_once: int) -> int:
    """Claim some of the destinations that are due, and deliver to them; return how many were sent.

    An error that is raised is one before anything was sent: nothing stays claimed.
    """
    # Other threads see the same ones: each tries some of them by lot.
    places = {key: place for place, key in enumerate(claims.drawn(keys, at_once))}
    with holder.claiming() as name:
        try:
            claimed = claims.claim(name, places)
            # Whoever is served last may have to wait for the next round: that is by lot too.
            return _deliver_all(sorted(claimed, key=lambda one: places[one.destination.pk]))
        except Exception as error:
            if not is_of_surroundings(error):
                claims.let_go(name)
            raise


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
    aside = set_aside.of(DESTINATION)
    sent, unconfirmed, first, begun = 0, list[Attempt](), 0.0, None
    try:
        for claim, batch in _composed(ready):
            now = time.monotonic()
            begun = now if begun is None else begun
            seconds = ROUND / len(ready) if now <= begun + ROUND else None
            try:
                attempt = _deliver(claim, batch, seconds, aside)
            except Exception as error:
                _put_aside(claim, error)
                continue
            if attempt is None:
                continue
            sent += 1
            first = first if unconfirmed else time.monotonic()
            unconfirmed.append(attempt)
            if time.monotonic() > first + TOGETHER:
                _confirm(unconfirmed, aside)
                unconfirmed = []
    finally:
        _confirm(unconfirmed, aside)
    return sent


def _set_aside(key: int, name: str, error: Exception) -> None:
    """Set a destination aside that raised an error, held under a name: its owner reads why."""
    claims.put_aside(key, name, set_aside.record(DESTINATION, key, error))


def _composed(claimed: Sequence[Claim]) -> list[tuple[Claim, Batch]]:
    """Return claims with their batches; one whose batch cannot be made holds up no other."""

    def compose(some: Sequence[Claim]) -> list[tuple[Claim, Batch]]:
        batches = batches_of(some)
        return [(claim, batches[claim.destination.pk]) for claim in some]

    composed, failures = isolate(compose, claimed)
    for claim, error in failures:
        _put_aside(claim, error)
    return composed


def _put_aside(claim: Claim, error: Exception) -> None:
    """Let go of a claim that raised an error: it is set aside, or due again in a moment."""
    if isinstance(error, LaterError):
        claims.give_back(claim, SOON)
    else:
        _set_aside(claim.destination.pk, claim.name, error)


def _deliver(claim: Claim, batch: Batch, seconds: float | None, aside: Aside) -> Attempt | None:
    """Send the batch of a claim, if there are seconds for it; return what is to be confirmed."""
    if seconds is None:
        claims.give_back(claim, 0.0)
        return None
    batch = replace(batch, seconds=seconds)
    outcome = send(claim.destination, batch) if batch.matches else Outcome("delivered")
    until = batch.until if outcome.until is None else outcome.until
    matches = sum(match.sequence <= until for match in batch.matches)
    entered = Counter(match.filter_id for match in batch.entered() if match.sequence <= until)
    attempt = Attempt(claim, outcome, matches, entered)
    if outcome.state == "delivered":
        return attempt
    _put_off(attempt)
    aside.done([claim.destination.pk])
    return None


def _confirm(attempts: Sequence[Attempt], aside: Aside) -> None:
    """Store that all is delivered; where that raises for one, it is sent again under its key."""

    def confirm(some: Sequence[Attempt]) -> list[Attempt]:
        kept = claims.confirm(some)
        for attempt in some:
            _log(attempt, attempt.claim.destination.pk in kept)
        return list(some)

    confirmed, failures = isolate(confirm, attempts)
    aside.done(attempt.claim.destination.pk for attempt in confirmed)
    for attempt, error in failures:
        _set_aside(attempt.claim.destination.pk, attempt.claim.name, error)


def _put_off(attempt: Attempt) -> None:
    """Store what becomes of a claim whose batch was not delivered."""
    claim, outcome = attempt.claim, attempt.outcome
    if outcome.state == "refused":
        kept = claims.refuse(attempt)
    elif (seconds := _seconds_until_next(claim, outcome)) is not None:
        kept = claims.fail(attempt, seconds, reopen=claim.destination.way.reopens)
    else:
        outcome = Outcome("refused", f"{TURNED_OFF} {outcome.answer}".strip())
        attempt = replace(attempt, outcome=outcome)
        kept = claims.refuse(attempt)
    _log(attempt, kept)


def _log(attempt: Attempt, kept: bool) -> None:
    if attempt.matches:
        destination = attempt.claim.destination
        event(
            "delivered" if attempt.outcome.state == "delivered" else "not_delivered",
            kind=destination.kind,
            destination=destination.pk,
            matches=attempt.matches,
            state=attempt.outcome.state,
            kept=kept,
        )


def send(destination: Destination, batch: Batch) -> Outcome:
    """Send a batch by the way of a destination; what nobody foresaw is raised, and LaterError.

    Any other error is an outcome to be tried again, those of the surroundings of this one too.
    """
    try:
        return destination.way.send(destination, batch)
    except Exception as error:
        if is_unforeseen(error):
            raise
        if isinstance(error, TapestryError):
            return Outcome("retry", error.message)
        log.exception("destination %s", destination.pk)
        return Outcome("retry", FAILED_HERE)


def _seconds_until_next(claim: Claim, outcome: Outcome) -> float | None:
    """Return the seconds until the next attempt, None if the destination is to be turned off.

    Where our own mail server is the one that fails, it is tried for ever.
    """
    now = wall_clock()
    instant = next_try(
        now,
        claims.failing_since(claim.destination) or now,
        claim.destination.failures + 1,
        retry_after=max(outcome.retry_after or 0.0, SOONEST),
        seed=claim.key,
    )
    if instant is not None:
        return (instant - now) / SECOND
    return LONGEST if claim.destination.way.queue == MAIL else None
