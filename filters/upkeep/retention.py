"""The instant that is taken for the present where something is removed for its age.

    the clock goes on, by a day at most ───> it is the present
    it jumps ahead by more, say ten years ─> the present goes on by two hours a run of upkeep,
                                             until it is there, or the clock is set right

So while a clock is wrong, a day removes for good what two days would have, and no more.  A site
that was off for a week removes what has become old meanwhile within a week.  What was taken for
the present is kept in a row of the database.  A clock that is far behind lowers it as slowly: that
may be the one that is wrong.
"""

from __future__ import annotations

from filters.runs.models import Heartbeat
from tapestry.core.clock import DAY, HOUR, wall_clock
from tapestry.core.errors import TapestryError

TRUSTED = DAY
"""By how much the clock may differ from the present of the last run, and be believed."""

PACE = 2 * HOUR
"""By how much the present goes on in a run, which is hourly, while the clock is not believed."""


class ClockJumpedError(TapestryError):
    """The clock is far ahead of where upkeep knows it to have been."""


def take_present() -> int:
    """Return what is taken for the present; each run of upkeep calls this once."""
    now = wall_clock()
    row, _ = Heartbeat.objects.get_or_create(pk=Heartbeat.UPKEEP, defaults={"started_at": now})
    ahead = now - row.started_at
    row.started_at += ahead if abs(ahead) <= TRUSTED else max(-PACE, min(PACE, ahead))
    row.save(update_fields=["started_at"])
    return min(now, row.started_at)


def check_clock(present: int) -> None:
    """Raise ClockJumpedError if the clock is ahead of the present that was taken."""
    days = (wall_clock() - present) // DAY
    if days:
        raise ClockJumpedError(
            f"The clock is {days:,} {'day' if days == 1 else 'days'} ahead of the last upkeep, so "
            "what is kept for a time is removed later. If the clock is wrong, set it right. If it "
            "is right, for this site was off meanwhile, there is nothing to do."
        )
