"""Up to which instant the list of a filter is complete, and what it waits for beyond that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import OuterRef, Subquery

from filters.authoring.models import Filter, PendingWindow
from filters.inbox import behind
from filters.people.budgets import budget, is_used_up
from filters.runs.models import Heartbeat
from filters.site.templatetags.mail import moment
from tapestry.core.clock import BEGINNING, MINUTE, wall_clock

LATE = MINUTE
"""How long a run may be behind before a page says what it waits for."""

TOGETHER = "the run of all filters together"

_LANES = {
    Heartbeat.OWN: "the run of filters by themselves",
    Heartbeat.UNPROVEN: "the run of new filters",
}


@dataclass(frozen=True, slots=True)
class Completeness:
    """A filter's list has all that matched ``until`` an instant; None before its first run.

    Of one that waits for its sources, that is how far its own clock has come.

    ``waits_for`` are sentences: what keeps later matches out, or mail that is not here yet.
    """

    until: int | None
    waits_for: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Runs:
    """The first window that an older text of a filter left, and the last run of its lane."""

    since: int | None = None
    until: int | None = None
    error: str | None = None
    ran_at: int | None = None
    failure: str | None = None


def completeness(filter_: Filter) -> Completeness:
    """Return how complete the list of a filter is, of which the watermark is the one shown.

    Of sources only its owner's own are named; of others, whose mail its owner sees, that some are
    behind.
    """
    is_late = filter_.since < wall_clock() - LATE
    runs = _Runs() if filter_.enrolled and not is_late else _runs(filter_)
    until = min(filter_.since, filter_.since if runs.since is None else runs.since)
    if until <= BEGINNING:
        return Completeness(None)
    if filter_.waits_from is not None:
        until = filter_.clock
    waits_for = (*_of_runs(filter_, runs, is_late=is_late), *behind.sentences(filter_.owner))
    return Completeness(until if until > BEGINNING else None, waits_for)


def _lane(filter_: Filter) -> int:
    key = Heartbeat.OWN if filter_.proven else Heartbeat.UNPROVEN
    return Heartbeat.of_part(filter_.part) if filter_.enrolled else key


def _runs(filter_: Filter) -> _Runs:
    """Return what is known of a filter's runs, in one statement."""
    windows = PendingWindow.objects.filter(filter=OuterRef("pk")).order_by("since")
    beats = Heartbeat.objects.filter(pk=_lane(filter_))
    columns = [Subquery(windows.values(name)[:1]) for name in ("since", "until", "error")]
    columns += [Subquery(beats.values(name)[:1]) for name in ("ended_at", "error")]
    row = Filter.objects.filter(pk=filter_.pk).order_by().values_list(*columns).first()
    return _Runs() if row is None else _Runs(*row)


def _of_runs(filter_: Filter, runs: _Runs, *, is_late: bool) -> Iterator[str]:
    if runs.since is not None and runs.until is not None:
        why = "an error of this site is to be mended first" if runs.error else "it is under way"
        yield f"What it found between {_at(runs.since)} and {_at(runs.until)}: {why}."
    lane = _LANES.get(_lane(filter_), TOGETHER)
    if filter_.error:
        yield "It has stopped until it is changed."
    elif filter_.has_ended:
        yield "It has ended."
    elif not filter_.active:
        yield "It is paused."
    elif is_late and not filter_.enrolled and is_used_up(filter_.owner, "seconds"):
        seconds = budget(filter_.owner, "seconds")
        yield (
            f"It runs once an hour for now: your filters that run by themselves have used the "
            f"{seconds:,} seconds of this hour. In the next one they run again as usual."
        )
    elif is_late and runs.ran_at is None:
        yield f"It waits for {lane}, which has not run yet."
    elif is_late and runs.ran_at is not None:
        failed = ", and failed; it is tried again by itself" if runs.failure else ""
        yield f"It waits for {lane}, which last ended {_at(runs.ran_at)}{failed}."


def _at(instant: int) -> str:
    then = moment(instant)
    return "long ago" if then is None else f"{then:%H:%M} on {then.day} {then:%B %Y}"
