"""When a match may be shown and sent: the timeliness, quiet hours and holiday of a person.

A choice names showing times: every instant, the multiples of a period by the local clock, or a time
of day or week.  Those before the end of a holiday do not count, and those in quiet hours are put
off to their end.  A match is shown at the first of them at or after the instant of its storing.
All local clocks show whole minutes when something is due, so minutes are tried one by one.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from tests.simulation.auditor.findings import EPOCH
from tests.simulation.auditor.story import Entry

MINUTE = 60_000_000
HELD = 1 << 62
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def local(instant: int, zone: ZoneInfo) -> datetime:
    """Return what the clock on the wall shows."""
    return (EPOCH + timedelta(microseconds=instant)).astimezone(zone)


def instant_of(moment: datetime) -> int:
    return (moment.astimezone(UTC) - EPOCH) // timedelta(microseconds=1)


def is_quiet(person: Entry, instant: int) -> bool:
    """Return whether somebody has quiet hours now, by what their clock shows."""
    begin: int | None = person.get("quiet_from")
    end: int | None = person.get("quiet_to")
    if begin is None or end is None or begin == end:
        return False
    clock = local(instant, zone_of(person))
    minute = clock.hour * 60 + clock.minute
    return begin <= minute < end if begin < end else minute >= begin or minute < end


def is_resting(person: Entry, instant: int) -> bool:
    """Return whether somebody has quiet hours or a holiday now."""
    return is_quiet(person, instant) or instant < _end_of_holiday(person)


def zone_of(person: Entry) -> ZoneInfo:
    return ZoneInfo(person.get("time_zone") or "UTC")


def shown_at(timeliness: str, person: Entry, stored_at: int, received: int = 0) -> int:
    """Return when a match is shown that was stored at an instant, of a message received before.

    >>> night = {"quiet_from": 22 * 60, "quiet_to": 7 * 60}
    >>> [shown_at("hourly", night, hour * 60 * MINUTE) // 60 // MINUTE for hour in (21, 22, 32)]
    [21, 31, 32]
    >>> shown_at("daily at 08:00", {}, 9 * 60 * MINUTE) // 60 // MINUTE
    32
    """
    after = re.fullmatch(r"after (\d+) working days?", timeliness)
    if after:
        due = _after_working_days(person, received, int(after[1]))
        return shown_at("at once", person, max(stored_at, due))
    begin = stored_at
    if is_quiet(person, stored_at) or is_quiet(person, stored_at - 1):
        # What should have been shown since the quiet hours began is shown at their end.
        begin = _edge(person, stored_at, -1)
    begin = max(begin, _end_of_holiday(person))
    shown = _next_time(timeliness or person.get("timeliness") or "at once", person, begin)
    if is_quiet(person, shown):
        shown = _edge(person, shown, 1)
    return max(shown, stored_at)


def _end_of_holiday(person: Entry) -> int:
    day = person.get("holiday_until")
    if day is None:
        return 0
    return instant_of(datetime.combine(date.fromisoformat(day), time(), zone_of(person)))


def _after_working_days(person: Entry, received: int, count: int) -> int:
    """Return when so many working days are over, of which each hour was counted."""
    zone, weekdays = zone_of(person), person.get("workdays") or "01234"
    holidays = (person.get("holidays") or "").split()

    def works(moment: datetime) -> bool:
        return str(moment.weekday()) in weekdays and moment.date().isoformat() not in holidays

    moment = local(received, zone).replace(tzinfo=None)
    day = timedelta(days=1)
    if not works(moment):
        moment = datetime.combine(moment.date(), time())
        while not works(moment):
            moment += day
    while count:
        moment += day
        count -= works(moment)
    return instant_of(moment.replace(tzinfo=zone))


def _edge(person: Entry, instant: int, step: int) -> int:
    """Return where quiet hours begin (step -1) or end (1) that an instant is in, or ends."""
    at = instant // MINUTE * MINUTE
    if step < 0 and not is_quiet(person, at):
        at -= MINUTE
    while is_quiet(person, at):
        at += step * MINUTE
    return at if step > 0 else at + MINUTE


@lru_cache(maxsize=4096)
def _offset(zone: ZoneInfo, minute: int) -> int:
    offset = local(minute * MINUTE, zone).utcoffset() or timedelta()
    return offset // timedelta(minutes=1)


def _next_time(timeliness: str, person: Entry, begin: int) -> int:
    words, zone = timeliness.lower().split(), zone_of(person)
    if words == ["at", "once"]:
        return begin
    if words[0] in ("hourly", "every"):
        period = 60 if words[0] == "hourly" else int(words[1])
        minute = -(-begin // MINUTE)
        while (minute + _offset(zone, minute)) % period:
            minute += 1
        return minute * MINUTE
    hour, minute = map(int, re.findall(r"(\d+):(\d+)", timeliness)[0])
    weekday = WEEKDAYS.index(words[2]) if words[0] == "weekly" else None
    day = local(begin, zone).date() - timedelta(days=1)
    while True:
        at = instant_of(datetime.combine(day, time(hour, minute), zone))
        if at >= begin and weekday in (None, day.weekday()):
            return at
        day += timedelta(days=1)
