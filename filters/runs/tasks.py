"""What the workers do by the clock: the lanes of what is due, and upkeep every hour."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from django.conf import settings

from filters.compose.sending import outbox
from filters.delivery.dispatch import history
from filters.reading.annotations.outbox import prune as prune_annotations
from filters.runs import rounds
from filters.runs.models import SetAside
from filters.runs.store import shared_window
from filters.site.work import set_aside
from filters.site.work.parts import services
from filters.site.work.queues.queue import send
from filters.upkeep import retention
from filters.upkeep.forgetting import forget_old
from filters.upkeep.statistics import renew_statistics
from tapestry.celery import app
from tapestry.core.errors import TapestryError
from tapestry.core.files.site_lock import site_lock
from tapestry.core.log import line
from tapestry.run.unproven import Turns

log = logging.getLogger(__name__)

TURNS = Turns()
"""Whose unproven filters run next, in this process."""


@app.task(name="filters.tick", ignore_result=True)
def tick(part: int | None = None) -> None:
    """Run the shared window; if anything is new, the other lanes follow at once.

    Without a part, all that no other worker runs; others are asked for those with new mail.
    """
    parts = shared_window.parts() if part is None else [part]
    for other in parts[1:]:
        if rounds.is_behind(other):
            send(tick, (other,), otherwise="It runs by the clock", expires=3)
    ran = [_run(rounds.shared_lane(p), partial(rounds.run_shared_lane, p)) for p in parts]
    if any(ran):
        for follower in (own_windows, unproven_windows):
            send(follower, (), otherwise="It runs by the clock", expires=3)


@app.task(name="filters.own_windows", ignore_result=True)
def own_windows() -> None:
    """Run the proven filters that have windows of their own."""
    _run(rounds.OWN, rounds.run_own_lane)


@app.task(name="filters.unproven_windows", ignore_result=True)
def unproven_windows() -> None:
    """Run new and changed filters, each owner's in turn."""
    for slot in rounds.UNPROVEN:
        if not rounds.is_running(slot):
            _run(slot, lambda: rounds.run_unproven_lane(TURNS))
            return


@app.task(name="filters.sound_alarm", ignore_result=True, needs_room=False)
def sound_alarm() -> None:
    """Tell the operator what stands still; in a lane that no run, pull or digest can hold up."""
    from filters.runs.operator import alarm

    alarm.look()


@app.task(name="filters.compact", ignore_result=True, needs_room=False)
def compact() -> None:
    """Merge the small files of the tables, and remove what is kept no longer.

    Retention waits for a backup; not more than one of these tasks does.
    """
    with site_lock(services.data() / "run" / "upkeep.lock") as acquired:
        if acquired:
            _compact()


def _compact() -> None:
    from tapestry.tables.write.compact import compact as compact_tables

    present = retention.take_present()
    steps: dict[str, Callable[[], object]] = {"compact": lambda: compact_tables(services.tables())}
    if settings.RETENTION:
        steps["follow the clock"] = partial(retention.check_clock, present)
    for audience in settings.RETENTION:
        steps[f"forget {audience}"] = partial(forget_old, audience, present)
    steps |= {
        "prune deliveries": partial(history.prune, present),
        "prune sent": partial(outbox.prune, present),
        "prune annotations": prune_annotations,
        "prune set aside": set_aside.prune,
        "renew statistics": renew_statistics,
    }
    set_aside.each(SetAside.Kind.STEP, steps)


def _run(name: str, lane: Callable[[], bool | None]) -> bool:
    """Run a lane unless it is running; log an error, for the clock starts the lane again."""
    with rounds.lane(name) as acquired:
        if not acquired:
            return False
        try:
            return bool(lane())
        except TapestryError as error:
            log.error("%s", line(name, error=error.message, hint=error.hint))
            return False
