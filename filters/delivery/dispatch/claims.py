"""Claimed, sent, confirmed: a destination is sent a range of the release sequence exactly once.

    due ─ claim ─> held: (cursor, claimed_until] ─ delivered ─> cursor = claimed_until
                                                 ├ turn over ─> due again, with the rest of it
                                                 ├ failed ────> due again, with the same range
                                                 └ set aside ─> the same, at its time

A claim is an UPDATE that finds the destination free (compare-and-set), so two workers never
deliver to one destination at the same time.  The range stays as it is until it is confirmed: what
is tried again after a crash is the same delivery, under the same key: at least once for receivers
that do not know the key.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import BigIntegerField, Case, Count, F, QuerySet, Value, When
from django.db.models.functions import Coalesce

from filters.delivery.dispatch import holder
from filters.delivery.dispatch.anew import look_at_clock
from filters.delivery.dispatch.scope import matches_in, scopes_of, served
from filters.delivery.models import Delivery, Destination
from filters.inbox.lists.cards import being_made
from filters.inbox.models import Match
from filters.runs.models import ReleaseCounter, SetAside
from filters.runs.store import release
from filters.site.work import set_aside
from tapestry.core.clock import SECOND, wall_clock
from tapestry.deliver.batch import Outcome


@dataclass(frozen=True, slots=True)
class Claim:
    """A destination that this process holds, and the range that it is to be sent.

    ``sealed_now``: this claim has set the end of the range; else an earlier one, which failed, has.
    """

    destination: Destination
    name: str
    sealed_now: bool = True

    @property
    def after(self) -> int:
        return self.destination.cursor

    @property
    def until(self) -> int:
        return self.destination.claimed_until or self.destination.cursor

    @property
    def key(self) -> str:
        """The name of the delivery, the same however often it is tried (an idempotency key)."""
        return f"{self.destination.uid.hex}-{self.after}-{self.until}"


@dataclass(frozen=True, slots=True)
class Attempt:
    """What became of a claim that was tried; ``matches`` have left lists, or entered them.

    ``entered`` is how many entered those of each filter: most ways speak of these only.
    """

    claim: Claim
    outcome: Outcome
    matches: int = 0
    entered: Mapping[int, int] = field(default_factory=dict)


def due(kinds: Collection[str], limit: int, most_an_owner: int | None = None) -> list[int]:
    """Return the keys of destinations of some kinds that are due, at most so many.

    Half are those that have waited longest, half the newest: these do not wait while a hundred
    thousand are served that were due at one time.  Owners of whose destinations so many are held
    already have to wait.
    """
    if release.is_releasing():
        return []
    waiting = _deliverable().filter(kind__in=kinds, due_at__lte=wall_clock(), holder="")
    if most_an_owner is not None:
        claimed = Destination.objects.filter(kind__in=kinds).exclude(holder="").order_by()
        counts = claimed.values("owner").annotate(count=Count("pk"))
        busy = [row["owner"] for row in counts if row["count"] >= most_an_owner]
        waiting = waiting.exclude(owner__in=busy)
    keys = waiting.values_list("pk", flat=True)
    newest = keys.order_by("-due_at", "-pk")[: limit // 2]
    oldest = keys.order_by("due_at", "pk")[:limit]
    return list(dict.fromkeys([*newest, *oldest]))[:limit]


def drawn(keys: Collection[int], most: int) -> list[int]:
    """Draw at most so many of the destinations that are due, by lot and fair by owner.

    The second one of a person comes after the first of everybody else; those that are held count.
    """
    owners = dict(Destination.objects.filter(pk__in=keys).values_list("pk", "owner"))
    held = Destination.objects.filter(owner__in=set(owners.values())).exclude(holder="")
    turns = Counter(held.values_list("owner", flat=True))
    lots: list[tuple[int, int]] = []
    for key in random.sample(list(owners), len(owners)):
        lots.append((turns[owners[key]], key))
        turns[owners[key]] += 1
    lots.sort(key=lambda lot: lot[0])
    return [key for _, key in lots[:most]]


def is_late(instant: int) -> bool:
    """Tell whether a destination that could be served has been due since before an instant.

    One that is held, or was tried meanwhile and is to be tried again later, is not late.
    """
    return _deliverable().filter(due_at__lt=instant, holder="").exists()


def claim(name: str, keys: Collection[int]) -> list[Claim]:
    """Claim those of the destinations that are free and due, under a name (holder.claiming)."""
    deliverable = list(_deliverable().filter(pk__in=keys).values_list("pk", flat=True))
    # Without a join, so that PostgreSQL looks at the row again that another worker has changed.
    free = Destination.objects.filter(
        pk__in=deliverable, active=True, holder="", due_at__lte=wall_clock()
    )
    with transaction.atomic():
        free.update(holder=name, due_at=None)
        claimed = Destination.objects.filter(holder=name)
        # Its owner may have chosen another address since, which is not confirmed.
        destinations = list(
            claimed.filter(pk__in=_deliverable().filter(holder=name))
            .select_related("owner", "address")
            .prefetch_related("owner__groups", "owner__mutes", "subscriptions")
            .order_by("pk")
        )
        unusable = claimed.exclude(pk__in=[row.pk for row in destinations])
        unusable.update(holder="", due_at=wall_clock())
        position = ReleaseCounter.position()
        unsealed = [row for row in destinations if row.claimed_until is None]
        by_end: dict[int, list[int]] = defaultdict(list)
        for destination in unsealed:
            end = _end(destination, position, destination.way.most)
            destination.claimed_until = end
            by_end[end].append(destination.pk)
        for end, sealed in by_end.items():
            Destination.objects.filter(pk__in=sealed).update(claimed_until=end)
    return [Claim(row, name, row in unsealed) for row in destinations]


def confirm(attempts: Sequence[Attempt]) -> set[int]:
    """Store that claimed ranges are delivered, all in one transaction.

    Of those whose turn is over the rest stays claimed, and is due.  Return the keys of the
    destinations; not of those whose claim is not held any more.
    """
    with transaction.atomic():
        kept = _still_held(attempts)
        reached = {
            attempt.claim.destination.pk: attempt.outcome.until
            for attempt in attempts
            if attempt.outcome.until is not None
        }
        freed = {"holder": "", "failures": 0, "failing_since": None, "error": ""}
        for key in kept & reached.keys():
            row = Destination.objects.filter(pk=key)
            row.update(**freed, cursor=reached[key], due_at=wall_clock())
        Destination.objects.filter(pk__in=kept - reached.keys()).update(
            **freed,
            cursor=F("claimed_until"),
            claimed_until=None,
            due_at=Case(
                When(latest__gt=F("claimed_until"), then=Value(wall_clock())),
                default=None,
                output_field=BigIntegerField(null=True),
            ),
        )
        _record(
            attempt
            for attempt in attempts
            if attempt.claim.destination.pk in kept and (attempt.matches or attempt.outcome.answer)
        )
    return kept


def fail(attempt: Attempt, seconds: float, *, reopen: bool = False) -> bool:
    """Store that a range could not be delivered, to be tried again after so many seconds.

    With ``reopen`` what comes until then is in it.  Return False if the claim is not held any more.
    """
    now, destination = wall_clock(), attempt.claim.destination
    return _end_without_delivery(
        attempt,
        claimed_until=None if reopen else destination.claimed_until,
        due_at=now + int(seconds * SECOND),
        failures=F("failures") + 1,
        failing_since=failing_since(destination) or now,
    )


def failing_since(destination: Destination) -> int | None:
    """Return since when deliveries fail; what is set aside, for a fault of this site, does not."""
    return destination.failing_since if destination.failures else None


def refuse(attempt: Attempt) -> bool:
    """Store that the other side takes nothing more; its owner may turn the destination on again.

    What was to be delivered stays claimed, and is delivered then.  Return False if the claim is not
    held any more.
    """
    return _end_without_delivery(attempt, due_at=None, active=False, failures=0, failing_since=None)


def _end_without_delivery(attempt: Attempt, **changes: Any) -> bool:
    with transaction.atomic():
        kept = _still_held([attempt])
        rows = Destination.objects.filter(pk__in=kept)
        rows.update(holder="", error=attempt.outcome.answer, **changes)
        _record([attempt] if kept else [])
    return bool(kept)


def _still_held(attempts: Sequence[Attempt]) -> set[int]:
    """Return, and lock, those destinations of attempts whose claims are held (a fence)."""
    names = {attempt.claim.destination.pk: attempt.claim.name for attempt in attempts}
    rows = Destination.objects.select_for_update().filter(pk__in=names).order_by("pk")
    return {pk for pk, name in rows.values_list("pk", "holder") if name == names[pk]}


def advance(destination: Destination, sequence: int) -> bool:
    """Store that a held destination has been sent all up to a position within its claimed range.

    It is making progress, so earlier failures no longer count.

    Return False if the claim is not held any more.  A destination that is not held, of which a
    sample is sent, stays as it is.
    """
    if not destination.holder:
        return True
    rows = Destination.objects.filter(pk=destination.pk, holder=destination.holder)
    if destination.failing_since is not None:
        rows.update(failures=0, failing_since=None)
        destination.failures, destination.failing_since = 0, None
    return rows.update(cursor=sequence) == 1


def store_settings(destination: Destination, settings: Mapping[str, Any]) -> bool:
    """Add to the settings of a destination that is held; return False if it is not any more.

    Of a destination that is not held, of which a sample is sent, nothing is stored.
    """
    if not destination.holder:
        return True
    with transaction.atomic():
        rows = Destination.objects.select_for_update()
        stored = rows.filter(pk=destination.pk, holder=destination.holder).first()
        if stored is None:
            return False
        stored.settings = {**stored.settings, **settings}
        stored.save(update_fields=["settings"])
    destination.settings = stored.settings
    return True


def give_back(claimed: Claim, seconds: float) -> None:
    """Let go of a claim of which nothing was tried; it is due again after so many seconds.

    Its range is open again, if this claim has set its end: what comes until then is in it.  If it
    has become due since it was claimed, it is due.
    """
    rows = Destination.objects.filter(pk=claimed.destination.pk, holder=claimed.name)
    end = None if claimed.sealed_now else claimed.destination.claimed_until
    later = Value(wall_clock() + int(seconds * SECOND))
    rows.update(holder="", claimed_until=end, due_at=Coalesce(F("due_at"), later))


def let_go(name: str) -> None:
    """Let go of all that is still held under a name, after an error; the ranges stay."""
    Destination.objects.filter(holder=name).update(holder="", due_at=wall_clock())


def put_aside(key: int, name: str, aside: SetAside) -> None:
    """Let go of what was set aside, unless another has it: its range is tried again later.

    Each try of a range decides alike what floods, so it is stored since when it is tried.
    """
    since = Coalesce(F("failing_since"), Value(wall_clock()))
    rows = Destination.objects.filter(pk=key, holder__in=(name, ""))
    rows.update(holder="", due_at=aside.try_again_at, failing_since=since, error=aside.reason)


def free_abandoned() -> int:
    """Free the destinations whose claim has ended with its process; return how many.

    Wake those that are set aside and may be tried again at once, and all that wait for an instant
    of a clock that was set back since.
    """
    look_at_clock()
    set_aside.wake(SetAside.Kind.DESTINATION, Destination.objects.filter(holder=""))
    claimed = Destination.objects.exclude(holder="")
    names = set(claimed.order_by().values_list("holder", flat=True).distinct())
    ended = [name for name in names if not holder.is_alive(name)]
    freed = Destination.objects.filter(holder__in=ended).update(holder="", due_at=wall_clock())
    holder.remove_ended()
    return freed


def _deliverable() -> QuerySet[Destination]:
    """Return what can be served: not while a released match of its owner is copied again."""
    stale = being_made(Match.objects.filter(sequence__isnull=False))
    waiting = list(stale.order_by().values_list("filter__owner", flat=True).distinct())
    return served().exclude(owner__in=waiting)


def _end(destination: Destination, position: int, most: int | None) -> int:
    """Return where a new range ends: at the last release, or after so many matches."""
    if most is None:
        return position
    first = (
        rows.order_by("sequence").values_list("sequence", flat=True)[:most]
        for rows in matches_in(scopes_of({destination: position}).values())
    )
    positions = sorted(found for rows in first for found in rows if found is not None)
    return positions[most - 1] if len(positions) >= most else position


def _record(attempts: Iterable[Attempt]) -> None:
    now = wall_clock()
    Delivery.objects.bulk_create(
        Delivery(
            destination=attempt.claim.destination,
            key=attempt.claim.key,
            at=now,
            state=attempt.outcome.state,
            matches=attempt.matches,
            by_filter={str(key): count for key, count in attempt.entered.items()},
            answer=attempt.outcome.answer[:1000],
        )
        for attempt in attempts
    )
