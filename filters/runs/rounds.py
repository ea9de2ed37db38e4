"""What the workers run: a lane at a time, or a whole round.

    shared lane ── votes appended, the shared window, its cards; one for each part of the window
    own lane ───── proven filters with windows of their own, their cards; they join the others
    unproven ───── new and changed filters, in ``UNPROVEN_THREADS`` threads

A lane does not overlap with itself: a lock of the site, which ends with its process, excludes that.
An overlap would cost work, not correctness: windows are set by compare-and-set.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from django.conf import settings

from filters.authoring.compilation.dependents import recompile_aside
from filters.authoring.models import PendingWindow
from filters.inbox.lists import cards
from filters.reading.annotations import outbox
from filters.runs import canary
from filters.runs.models import Heartbeat
from filters.runs.store import shared_window, waiting
from filters.runs.store.filter_store import DjangoClock, DjangoFilterStore
from filters.site.work.parts import addresses, services
from filters.site.work.queues.queue import DELIVER_DUE, run_soon
from tapestry.core.clock import SECOND, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.files.disk_space import require_room
from tapestry.core.files.file_lock import FOREVER
from tapestry.core.files.site_lock import site_lock
from tapestry.plan.engine import EngineStuckError
from tapestry.run.resources import Resources
from tapestry.tables.delta.log import newest_instant
from tapestry.tables.write.append import advance_watermark

if TYPE_CHECKING:
    from tapestry.run.tick import TickReport
    from tapestry.run.unproven import Turns
    from tapestry.tables.delta.log import Tables

UNPROVEN_THREADS = 2
"""Owners whose unproven filters run at the same time."""

UNPROVEN_SECONDS = 30.0
"""Seconds after which a thread that runs unproven filters starts no further turn."""

JOIN_PATIENCE = 10.0
"""Seconds that filters wait to join the shared window; if it is busy, they join later."""

QUIET_SECONDS = 15.0
"""Seconds between two shared windows while nothing is new: only age brings matches then."""

SHARED, OWN = "shared", "own"
UNPROVEN = tuple(f"unproven-{slot}" for slot in range(UNPROVEN_THREADS))
"""The names of the lanes, and of their locks."""


def shared_lane(part: int) -> str:
    """Return the name of the lane of a part of the shared window.

    >>> shared_lane(0), shared_lane(2)
    ('shared', 'shared-2')
    """
    return f"{SHARED}-{part}" if part else SHARED


def run_round(at: int | None = None) -> TickReport:
    """Run all that is due now, or up to ``at`` if that is later, as ``manage.py tick`` does.

    The caller holds the lanes.  Raises DiskFullError before the disk is full.
    """
    require_room(services.data())
    from tapestry.run.tick import tick

    with _beating(Heartbeat.SHARED):
        tables = services.tables()
        outbox.append_outbox(tables)
        recompile_aside()
        waiting.record()
        report = tick(_resources(), DjangoClock(), at)
        _refresh_cards(tables)
    return report


def run_shared_lane(part: int = 0) -> bool:
    """Run a part of the shared window until nothing is new; return whether anything was.

    Where there are others, they may wait for this process: then it is run once.
    """
    from tapestry.run.lanes import run_shared

    if shared_window.end_part(part):
        return False
    tables, clock, resources = services.tables(), DjangoClock(), _resources().of_part(part)
    if _is_quiet(part):
        # Of what was forgotten, or may not be seen any more.
        _refresh_cards(tables, enrolled=True, part=part)
        return False
    moved = False
    while True:
        with _beating(Heartbeat.of_part(part)):
            outbox.append_outbox(tables)
            if part == 0:
                waiting.record()
            before = resources.store.shared_since()
            until = advance_watermark(tables, clock)
            run_shared(resources, until)
            _refresh_cards(tables, enrolled=True, part=part)
        newest = newest_instant(tables)
        moved |= before is None or before < newest
        if newest <= until or settings.WINDOW_PARTS > 1:
            return moved


def _is_quiet(part: int) -> bool:
    """Tell whether nothing is new since the last window of a part, which ended a moment ago.

    Pending windows that end after it wait for the next.
    """
    window = shared_window.stored_window(part)
    since, ran_at = window.since, window.ran_at
    return (
        since is not None
        and ran_at is not None
        and 0 <= wall_clock() - ran_at < QUIET_SECONDS * SECOND
        and newest_instant(services.tables()) <= since
        and not outbox.is_any_due()
        and not PendingWindow.objects.filter(until__gt=since).exists()
    )


def is_behind(part: int) -> bool:
    """Tell whether there is mail, or a vote, that a part of the shared window was not run for."""
    return (shared_window.stored_window(part).since or 0) < newest_instant(services.tables())


def run_own_lane() -> None:
    """Run the proven filters with windows of their own, and let them join the shared window."""
    from tapestry.run.lanes import join_shared, run_proven

    resources = _resources()
    tables = resources.tables
    with _beating(Heartbeat.OWN):
        recompile_aside()
        for part in range(settings.WINDOW_PARTS):
            its = resources.of_part(part)
            until = its.store.shared_since()
            if until is None:
                continue
            run = run_proven(its, until)
            # So too what became stale in a filter that is not run: deliveries wait for it.
            _refresh_cards(tables, enrolled=False)
            join_shared(its, run, partial(lane, shared_lane(part), wait=JOIN_PATIENCE))
        canary.check_spark(addresses.PROVEN, services.engine_on, tables)


def run_unproven_lane(turns: Turns) -> bool:
    """Give owners of unproven filters their turns; return whether there were any."""
    from tapestry.run.lanes import run_unproven

    resources = replace(_resources(), engine_on=services.unproven_engine_on)
    tables = resources.tables
    runs = run_unproven(resources, turns, most_seconds=UNPROVEN_SECONDS)
    ran = False
    with _beating(Heartbeat.UNPROVEN):
        for run in runs:
            ran = True
            if run.matches or run.changes or run.failed or not run.committed:
                _refresh_cards(tables, enrolled=False)
        canary.check_spark(addresses.UNPROVEN, services.unproven_engine_on, tables)
    return ran


def _resources() -> Resources:
    return Resources(
        services.engine_on, services.tables(), DjangoFilterStore(), settings.LANE_LIMITS
    )


def lane(name: str, *, wait: float = 0.0) -> AbstractContextManager[bool]:
    """Hold a lane; yield whether it was acquired, at once or after so many seconds."""
    return site_lock(services.data() / "run" / f"{name}.lock", wait=wait)


@contextmanager
def all_lanes() -> Iterator[None]:
    """Hold all lanes, after a wait: what runs meanwhile runs alone."""
    with ExitStack() as stack:
        for name in (*UNPROVEN, OWN, *map(shared_lane, shared_window.parts())):
            stack.enter_context(lane(name, wait=FOREVER))
        yield


def is_running(name: str) -> bool:
    with lane(name) as free:
        return not free


def _refresh_cards(tables: Tables, *, enrolled: bool | None = None, part: int = 0) -> None:
    """Bring what was found into the lists, and have it delivered."""
    if cards.refresh_cards(tables, enrolled=enrolled, part=part):
        run_soon(DELIVER_DUE)


@contextmanager
def _beating(key: int) -> Iterator[None]:
    """Store for the health page when a lane runs, and the error that it ends with.

    A Spark that runs nothing is restarted.
    """
    Heartbeat.objects.update_or_create(pk=key, defaults={"started_at": wall_clock()})
    error, error_type = "It stopped half-way.", ""
    try:
        yield
        error = ""
    except Exception as failure:
        error_type = type(failure).__name__
        error = f"The last run failed ({error_type}); the worker's log says why."
        if isinstance(failure, TapestryError):
            error = failure.message
        if isinstance(failure, EngineStuckError):
            canary.restart(addresses.UNPROVEN if key == Heartbeat.UNPROVEN else addresses.PROVEN)
        raise
    finally:
        Heartbeat.objects.filter(pk=key).update(
            ended_at=wall_clock(), error=error, error_type=error_type
        )
