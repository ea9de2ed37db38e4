"""The schedule of deliveries: when a match is shown and sent, by all that a person has chosen.

A person's choices name a set of showing times: those of the timeliness, without what is before
the end of a holiday; each that is quiet is put off to the end of the quiet hours.  A match is
shown at the first of these at or after the instant at which it was stored.  So ``plan`` is never
before that instant, monotone, and idempotent.
"""

from __future__ import annotations

from datetime import tzinfo

from tapestry.deliver.timing.quiet import NO_RULES, Rules, end_of_holiday, quiet_period
from tapestry.deliver.timing.timeliness import Timeliness, shown_at

HELD = 2**62
"""Plus infinity: the shown_at of a match that is held until nothing in its filter is unread."""


def plan(timeliness: Timeliness, rules: Rules, stored_at: int, zone: tzinfo) -> int:
    """Return the instant at which a match is shown and sent that was stored at ``stored_at``.

    >>> from datetime import UTC
    >>> from tapestry.core.clock import HOUR
    >>> from tapestry.deliver.timing.timeliness import parse_timeliness
    >>> night = Rules(quiet_from=22 * 60, quiet_to=7 * 60)
    >>> [plan(parse_timeliness("hourly"), night, hour * HOUR, UTC) // HOUR for hour in (21, 22, 32)]
    [21, 31, 32]
    """
    if rules == NO_RULES:
        return shown_at(timeliness, stored_at, zone)
    # What should have been shown since the quiet hours began is shown at their end.
    quiet = quiet_period(rules, stored_at, zone)
    begin = stored_at if quiet is None else quiet[0]
    holiday = end_of_holiday(rules, zone)
    shown = shown_at(timeliness, begin if holiday is None else max(begin, holiday), zone)
    quiet = quiet_period(rules, shown, zone)
    return shown if quiet is None else quiet[1]
