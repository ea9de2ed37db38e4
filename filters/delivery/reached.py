"""Whether all mail up to an instant has reached every delivery, and what is still to come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Count, F, Min, Q

from filters.authoring.models import Filter, PendingWindow
from filters.delivery.dispatch.scope import served
from filters.inbox.models import Match, is_due
from filters.runs.models import SetAside, SharedWindow
from filters.runs.store import release
from filters.site.templatetags.mail import time_words
from filters.site.work import set_aside
from tapestry.core.clock import wall_clock


@dataclass(frozen=True, slots=True)
class Remaining:
    """What has not come everywhere of mail up to an instant, in sentences.

    ``now`` is under way or late.  ``later`` is nothing to wait for: it comes at a time that its
    person chose, or is to be tried again.
    """

    now: tuple[str, ...]
    later: tuple[str, ...]


def remaining(instant: int) -> Remaining:
    """Return what has not come of mail up to an instant (its ``ts``), whoever may see it.

    Filters that are paused or have stopped, what is set aside, and destinations that are turned
    off or whose address is not confirmed take nothing, and are not waited for.
    """
    runs = tuple(_runs(instant))
    return Remaining((*runs, *_releases(), *_under_way()), tuple(_later()))


def _runs(instant: int) -> Iterator[str]:
    """Say which runs have not come to an instant."""
    running = Filter.objects.filter(active=True, error="")
    window = SharedWindow.objects.filter(pk=1).values_list("since", flat=True).first()
    if (window or 0) < instant and running.filter(enrolled=True).exists():
        yield "The run of all filters together is not there yet."
    if own := running.filter(enrolled=False, since__lt=instant).count():
        words = _counted(own, "filter that runs by itself is", "filters that run by themselves are")
        yield f"{words} not there yet."
    if windows := PendingWindow.objects.filter(since__lt=instant, error="").count():
        words = _counted(windows, "former text of a filter is", "former texts of filters are")
        yield f"{words} not there yet."


def _counted(count: int, one: str, many: str) -> str:
    return f"1 {one}" if count == 1 else f"{count:,} {many}"


def _releases() -> Iterator[str]:
    aside = set_aside.of(SetAside.Kind.FILTER).waiting_for(release.PART)
    waiting = Match.objects.filter(is_due(), retracted_at=None, sequence=None)
    if count := waiting.exclude(filter__in=aside).count():
        yield f"{_counted(count, 'match is', 'matches are')} being listed."


def _under_way() -> Iterator[str]:
    due = Q(due_at__lte=wall_clock()) | ~Q(holder="")
    if count := served().filter(due, latest__gt=F("cursor")).count():
        yield f"{_counted(count, 'delivery is', 'deliveries are')} under way."


def _later() -> Iterator[str]:
    waiting = served().filter(due_at__gt=wall_clock(), holder="", latest__gt=F("cursor"))
    first, count = waiting.aggregate(first=Min("due_at"), count=Count("pk")).values()
    if count:
        words = _counted(count, "delivery comes", "deliveries come")
        yield f"{words} later, the first at {time_words(first)}."
    matches = Match.objects.filter(retracted_at=None, sequence=None).exclude(is_due())
    first, count = matches.aggregate(first=Min("shown_at"), count=Count("pk")).values()
    if count:
        words = _counted(count, "match is", "matches are")
        yield f"{words} shown later, the first at {time_words(first)}."
