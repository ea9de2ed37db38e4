"""The clocks of filters that wait: up to when the mail of sources was here, as it is recorded.

    sources ─ a round ─> facts (source, audience, complete up to, ts) ─ a window ─> Completeness

A fact is stamped like a row, under the lock of the clock: no window has run to its ``ts`` yet.
Those sources count that are on, and whose mail the owner of a filter sees; of what others see,
too, those that were complete within a week, for who waits may not be able to mend them.  One that
counts no more, as it was paused or deleted, has a fact that says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

from django.db import transaction
from django.db.models import Max, Min, Q, QuerySet
from django.db.models.functions import Greatest

from filters.authoring.models import Filter, PendingWindow
from filters.people import people
from filters.runs.models import Clock, CompleteUpTo
from filters.sources.models import Source
from tapestry.core.clock import BEGINNING, MINUTE, NEVER, WEEK, next_instant, wall_clock
from tapestry.core.completeness import Completeness

Fact = tuple[int, tuple[int, str], int]
"""An instant, a source and its audience, and up to when its mail was here from then on."""


def record() -> None:
    """Record what has changed of the sources that filters wait for, a minute of it at least.

    Nothing is recorded while no filter waits; one that begins to wait does so from its first fact.
    """
    waiting = Filter.objects.filter(mode=Filter.Mode.WAIT)
    if not waiting.exists():
        older = PendingWindow.objects.exclude(waits_from=None)  # a text that waited runs by them
        if CompleteUpTo.objects.exists() and not older.exists():  # no needless write
            CompleteUpTo.objects.all().delete()
        return
    changed = list(_changes(waiting.values_list("owner", flat=True).distinct().order_by()))
    if changed or waiting.filter(waits_from=None).exists():
        with transaction.atomic(durable=True):
            clock = Clock.lock()
            ts = next_instant(wall_clock(), clock.last)
            clock.advance(ts)
            CompleteUpTo.objects.bulk_create(CompleteUpTo(ts=ts, **fact) for fact in changed)
            waiting.filter(waits_from=None).update(waits_from=ts)
    _forget()


def _changes(owners: Iterable[int]) -> Iterable[dict[str, int | str]]:
    """Yield the facts about sources that are others than the last ones."""
    seen = {a for owner in people.owners_by_key(owners).values() for a in owner.audiences}
    used = _counting(seen)
    found = {
        (pk, a): BEGINNING if upto is None else upto
        for pk, a, upto in used.values_list("pk", "audience", "complete_until")
    }
    facts = CompleteUpTo.objects.order_by("pk").values_list("source", "audience", "upto")
    last = {(source, audience): upto for source, audience, upto in facts}
    for key in sorted(found.keys() | last.keys()):
        upto, before = found.get(key, NEVER), last.get(key, NEVER)
        if upto != before and (NEVER in (upto, before) or upto >= before + MINUTE):
            yield {"source": key[0], "audience": key[1], "upto": upto}


def _forget() -> None:
    """Delete the facts that were succeeded before anything that is still to be run."""
    begin = Min(Greatest("since", "waits_from"))
    windows = (Filter.objects.filter(mode=Filter.Mode.WAIT), PendingWindow.objects.all())
    begins = [rows.exclude(waits_from=None).aggregate(at=begin)["at"] for rows in windows]
    before = CompleteUpTo.objects.filter(
        ts__lte=min(at for at in (*begins, NEVER) if at is not None)
    )
    last = before.order_by().values("source", "audience").annotate(last=Max("pk")).values("last")
    before.exclude(pk__in=list(last.values_list("last", flat=True))).delete()


def facts(rows: Iterable[Filter | PendingWindow]) -> Mapping[str, Sequence[Fact]]:
    """Return all facts by audience, in their order; none if no window is of a filter that waits."""
    recorded: dict[str, list[Fact]] = defaultdict(list)
    if any(row.waits_from is not None for row in rows):
        columns = CompleteUpTo.objects.order_by("ts", "pk")
        for ts, source, audience, upto in columns.values_list("ts", "source", "audience", "upto"):
            recorded[audience].append((ts, (source, audience), upto))
    return recorded


def completeness(
    row: Filter | PendingWindow,
    audiences: Collection[str],
    recorded: Mapping[str, Sequence[Fact]],
) -> Completeness | None:
    """Return the clock of a filter's window, None if it does not wait.

    Where the window begins it is what it was.  Up to the instant from which on it waits, W is what
    was complete then.  It stands at the end of a filter that has one, for given a later one it goes
    on from there.
    """
    if row.waits_from is None:
        return None
    begin = max(row.since, row.waits_from)
    seen = (fact for audience in audiences for fact in recorded.get(audience, ()))
    clock = _clock(sorted(seen, key=itemgetter(0)), begin, row.clock)
    after = [(max(at, row.since + 1), upto) for at, upto in clock.steps]
    steps = ((BEGINNING, row.clock), *(after or [(row.since + 1, NEVER)]))
    clock = replace(clock, steps=steps, at_start=row.start_clock)
    if not isinstance(row, Filter) or row.end is None:
        return clock
    before = [step for step in clock.steps if step[0] <= row.end]
    return replace(clock, steps=(*before, (row.end, clock.at(row.end))))


def begin_as_it_waits(filter_: Filter, start: int | None) -> None:
    """Let a filter begin anew at T0; the clock of one that waits goes on from where it stands.

    Else what it waits for would be lost: neither found before, nor new.
    """
    waits_from, clock = filter_.waits_from, None
    if waits_from is not None and start is not None:
        clock = completeness(filter_, people.audiences(filter_.owner), facts([filter_]))
    filter_.begin(start)
    if clock is not None and start is not None:
        filter_.waits_from = waits_from
        filter_.clock = filter_.start_clock = clock.at(start)


def complete_until(audiences: Collection[str]) -> int:
    """Return up to when all sources are complete now that count for these audiences."""
    instants = _counting(audiences).values_list("complete_until", flat=True)
    return min((BEGINNING if upto is None else upto for upto in instants), default=NEVER)


def _counting(audiences: Collection[str]) -> QuerySet[Source]:
    counts = Q(audience__startswith="user:") | Q(complete_until__gte=wall_clock() - WEEK)
    used = Source.objects.filter(counts, active=True, owner__is_active=True)
    return used.filter(audience__in=audiences).order_by()


def _clock(facts: Sequence[Fact], begin: int, floor: int) -> Completeness:
    """Return the clock that facts make, in their order; those up to ``begin`` are one step."""
    clock = Completeness((), floor)
    sources: dict[tuple[int, str], int] = {}
    for ts, some in groupby(facts, lambda fact: max(fact[0], begin)):
        sources |= {source: upto for _, source, upto in some}
        upto = min(sources.values(), default=NEVER)
        at = BEGINNING if ts == begin else ts
        reached = floor if ts == begin else clock.at(ts - 1)
        clock = Completeness((*clock.steps, (at, max(upto, reached))), floor)
    return clock
