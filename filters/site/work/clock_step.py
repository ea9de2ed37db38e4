"""The wall clock is set back: what waits for an instant of the clock as it was is planned anew.

    looked at: 14:00 ─ looked at: 09:00, so it was set back ─> all that waits is due, and is
                                                               put off from 09:00 on

A retry, the end of quiet hours, the time of a digest: each is an instant that was computed while
the clock was ahead, and would be waited for as long as the clock was ahead, besides.  How far
ahead an instant lies tells nothing: a holiday is long, and a server may ask for days.  So the last
look at the clock is kept, in a row of the database.
"""

from __future__ import annotations

from collections.abc import Callable

from filters.runs.models import Clock, Heartbeat
from tapestry.core.clock import MINUTE, SECOND, wall_clock
from tapestry.core.log import event

SLACK = MINUTE
"""A clock that goes back by less is let be: nothing waits for longer over it than that."""


def look(key: int, plan_anew: Callable[[], object]) -> None:
    """Look at the clock: if it was set back since the last look of this key, plan anew.

    ``key`` is that of a Heartbeat.  To be called by a task of every few seconds.  The look is
    stored once all is planned: after a crash in between that is done again.
    """
    now = wall_clock()
    seen = Heartbeat.objects.filter(pk=key).values_list("started_at", flat=True).first()
    if now < (Clock.instant() if seen is None else seen) - SLACK:
        event("clock_set_back", heartbeat=key)
        plan_anew()
    elif seen is not None and abs(now - seen) < SECOND:
        return  # many threads look, and none has to write
    Heartbeat.objects.update_or_create(pk=key, defaults={"started_at": now})
