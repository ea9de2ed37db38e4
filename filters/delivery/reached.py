"""Whether all mail up to an instant has reached every delivery, and what is still to come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Count, F, Max, Min, Q, QuerySet

from filters.authoring.models import Filter, PendingWindow
from filters.delivery.dispatch.scope import served
from filters.inbox.models import Match, is_due
from filters.people.models import User
from filters.reading.annotations.outbox import PART
from filters.reading.models import OutboxAnnotation
from filters.runs.models import SetAside, SharedWindow
from filters.runs.store import expiry, release
from filters.site.templatetags.mail import time_words
from filters.site.work import set_aside
from tapestry.core.clock import BEGINNING, wall_clock


@dataclass(frozen=True, slots=True)
class Remaining:
    """What has not come everywhere of mail up to an instant, in sentences.

    ``now`` is under way or late.  ``later`` is nothing to wait for: it comes at a time that its
    person chose, or is to be tried again.
    """

    now: tuple[str, ...]
    later: tuple[str, ...]


def remaining(
    instant: int, person: User | None = None, votes_until: int | None = None
) -> Remaining:
    """Return what has not come of mail up to an instant (its ``ts``), whoever may see it.

    With it are the votes, tags and notes that people gave until then, or ``votes_until`` another
    instant, though they become visible later.  With a person, it is what has not come of it to
    their own filters and deliveries, and what they said.

    Filters that are paused or have stopped, what is set aside, and destinations that are turned
    off or whose address is not confirmed take nothing, and are not waited for.
    """
    scope = _Scope(person)
    annotations = scope.annotations.filter(
        created__lte=instant if votes_until is None else votes_until
    )
    up_to = annotations.filter(appended_at__gt=instant).aggregate(last=Max("appended_at"))["last"]
    now = (
        *_unstored(annotations),
        *_runs(scope, up_to or instant),
        *_releases(scope),
        *_under_way(scope),
    )
    return Remaining(now, tuple(_later(scope)))


def complete_until(person: User) -> int | None:
    """Return the instant up to which a person's filters have all run; None if none has run yet.

    What they found until then may have to be listed and delivered still: see `remaining`.
    """
    scope = _Scope(person)
    together = scope.filters.filter(enrolled=True).values_list("part", flat=True)
    parts = [part + 1 for part in together.distinct().order_by()]
    waiting = scope.filters.exclude(waits_from=None)
    firsts = (
        SharedWindow.objects.filter(pk__in=parts).aggregate(at=Min("since")),
        scope.filters.filter(enrolled=False).aggregate(at=Min("since")),
        scope.windows.aggregate(at=Min("since")),
        waiting.aggregate(at=Min("clock")),
    )
    first = min((found["at"] for found in firsts if found["at"] is not None), default=None)
    return first if first is not None and first > BEGINNING else None


class _Scope:
    """What is looked at: all, or what is of one person."""

    def __init__(self, person: User | None) -> None:
        of_filter = Q() if person is None else Q(filter__owner=person)
        owned = Q() if person is None else Q(owner=person)
        self.filters = Filter.objects.filter(owned, active=True, error="", owner__is_active=True)
        left = expiry.has_ended("filter__") & Q(since__lt=F("filter__end"))
        self.windows = PendingWindow.objects.filter(
            Q(filter__active=True) | left, of_filter, error="", filter__owner__is_active=True
        )
        self.matches = Match.objects.filter(of_filter, sequence=None)
        self.destinations = served().filter(owned, latest__gt=F("cursor"))
        self.annotations = OutboxAnnotation.objects.filter(owned)


def _unstored(annotations: QuerySet[OutboxAnnotation]) -> Iterator[str]:
    """Say how much of what people said is not in the tables yet."""
    aside = set_aside.of(SetAside.Kind.MESSAGE).waiting_for(PART)
    if count := annotations.filter(appended_at=None).exclude(pk__in=aside).count():
        yield f"{_counted(count, 'vote or note is', 'votes and notes are')} being stored."


def _runs(scope: _Scope, instant: int) -> Iterator[str]:
    """Say which runs have not come to an instant."""
    behind = SharedWindow.objects.filter(since__lt=instant)
    parts = [pk - 1 for pk in behind.values_list("pk", flat=True)]
    if parts and scope.filters.filter(enrolled=True, part__in=parts).exists():
        yield "The run of all filters together is not there yet."
    if own := scope.filters.filter(enrolled=False, since__lt=instant).count():
        words = _counted(own, "filter that runs by itself is", "filters that run by themselves are")
        yield f"{words} not there yet."
    if windows := scope.windows.filter(since__lt=instant).count():
        words = _counted(windows, "former text of a filter is", "former texts of filters are")
        yield f"{words} not there yet."


def _counted(count: int, one: str, many: str) -> str:
    return f"1 {one}" if count == 1 else f"{count:,} {many}"


def _releases(scope: _Scope) -> Iterator[str]:
    aside = set_aside.of(SetAside.Kind.FILTER).waiting_for(release.PART)
    # What has left is released with its card.
    released = Q(retracted_at=None) | Q(card__isnull=False)
    if count := scope.matches.filter(released, is_due()).exclude(filter__in=aside).count():
        yield f"{_counted(count, 'match is', 'matches are')} being listed."


def _under_way(scope: _Scope) -> Iterator[str]:
    due = Q(due_at__lte=wall_clock()) | ~Q(holder="")
    if count := scope.destinations.filter(due).count():
        yield f"{_counted(count, 'delivery is', 'deliveries are')} under way."


def _later(scope: _Scope) -> Iterator[str]:
    waiting = scope.destinations.filter(due_at__gt=wall_clock(), holder="")
    first, count = waiting.aggregate(first=Min("due_at"), count=Count("pk")).values()
    if count:
        words = _counted(count, "delivery comes", "deliveries come")
        yield f"{words} later, the first at {time_words(first)}."
    matches = scope.matches.filter(retracted_at=None).exclude(is_due())
    first, count = matches.aggregate(first=Min("shown_at"), count=Count("pk")).values()
    if count:
        words = _counted(count, "match is", "matches are")
        yield f"{words} shown later, the first at {time_words(first)}."
