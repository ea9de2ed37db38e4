"""Quiet hours and holidays: when a person is shown and sent nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, tzinfo

from tapestry.core.clock import DAY, MINUTE, to_datetime
from tapestry.deliver.timing.local_time import Span, local_instant, spans


@dataclass(frozen=True, slots=True)
class Rules:
    """A person's quiet hours, in minutes after local midnight, and the day until which they rest.

    Quiet hours whose end is before their beginning span midnight.  There are none while either
    is None or both are the same.
    """

    quiet_from: int | None = None
    quiet_to: int | None = None
    holiday_until: date | None = None


NO_RULES = Rules()


def end_of_holiday(rules: Rules, zone: tzinfo) -> int | None:
    """Return the instant at which the holiday is over: from then on it is that local day.

    >>> from datetime import UTC
    >>> end_of_holiday(Rules(holiday_until=date(1970, 1, 2)), UTC) == DAY
    True
    """
    day = rules.holiday_until
    if day is None:
        return None
    midnight = datetime.combine(day, time())
    first, second = (local_instant(midnight.replace(fold=fold), zone) for fold in (0, 1))
    # Clocks that are set back just after midnight show the day before once more.
    day_again = to_datetime(second - 1).astimezone(zone).date()
    return second if second > first and day_again < day else first


def allowed_from(rules: Rules, instant: int, zone: tzinfo) -> int:
    """Return the first instant, from one on, that is neither in quiet hours nor in the holiday.

    >>> from datetime import UTC
    >>> night = Rules(quiet_from=22 * 60, quiet_to=7 * 60)
    >>> allowed_from(night, 23 * 60 * MINUTE, UTC) // (60 * MINUTE)
    31
    """
    instant = max(instant, end_of_holiday(rules, zone) or instant)
    period = quiet_period(rules, instant, zone)
    return instant if period is None else max(instant, period[1])


def quiet_period(rules: Rules, instant: int, zone: tzinfo) -> tuple[int, int] | None:
    """Return the quiet period, from its beginning up to its end, that an instant is in or ends.

    An instant is quiet if the local clock then shows a time within the quiet hours: where the
    clocks repeat an hour, it counts both times; where they skip the end, the skip is the end.

    >>> from datetime import UTC
    >>> night = Rules(quiet_from=22 * 60, quiet_to=7 * 60)
    >>> [hour // (60 * MINUTE) for hour in quiet_period(night, DAY, UTC)]
    [22, 31]
    >>> quiet_period(night, 12 * 60 * MINUTE, UTC) is None
    True
    """
    if rules.quiet_from is None or rules.quiet_to is None or rules.quiet_from == rules.quiet_to:
        return None
    begin, end = rules.quiet_from * MINUTE, rules.quiet_to * MINUTE
    hours = (begin, end if begin < end else end + DAY)
    # A period lasts less than a day; where the clocks skip its end, two may be one.
    periods: list[tuple[int, int]] = []
    for span in spans(instant - 3 * DAY, instant + 3 * DAY, zone):
        for first, last in _quiet_parts(hours, span):
            joins = bool(periods) and periods[-1][1] == first
            periods.append((periods.pop()[0], last) if joins else (first, last))
    return next((period for period in periods if period[0] <= instant <= period[1]), None)


def _quiet_parts(hours: tuple[int, int], span: Span) -> Iterator[tuple[int, int]]:
    """Yield what of a span is quiet, in order; ``hours`` are microseconds after midnight."""
    first_day = (span.begin + span.offset) // DAY - 1
    last_day = (span.end + span.offset) // DAY
    for day in range(first_day, last_day + 1):
        begin = max(day * DAY + hours[0] - span.offset, span.begin)
        end = min(day * DAY + hours[1] - span.offset, span.end)
        if begin < end:
            yield begin, end
