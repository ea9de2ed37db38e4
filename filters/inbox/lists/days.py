"""The day of an instant in a person's time zone, in Python and in SQL alike.

Lists are grouped by it.  The offset of a zone is a step function of time: both go by its steps.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BigIntegerField, F, Func, Value
from django.db.models.expressions import Combinable
from django.db.models.sql.compiler import SQLCompiler

from tapestry.core.clock import DAY, to_instant

_FIRST_YEAR = 2000
"""Before it, the offset is that of its beginning: nothing was found here so early."""

_EPOCH = date(1970, 1, 1)


def local_day(instant: int, zone: ZoneInfo) -> date:
    """Return the day of an instant in a time zone.

    >>> local_day(to_instant(datetime(2026, 7, 1, 22, 30, tzinfo=UTC)), ZoneInfo("Europe/Berlin"))
    datetime.date(2026, 7, 2)
    """
    *steps, (_, first) = offsets(zone)
    offset = next((offset for start, offset in steps if instant >= start), first)
    return _EPOCH + timedelta(days=(instant + offset) // DAY)


def sql_day(name: str, zone: ZoneInfo) -> Combinable:
    """Return the number of the day, since 1970, of the instant in a field or annotation."""
    return (F(name) + _ZoneOffset(F(name), steps=offsets(zone))) / Value(DAY)


def offsets(zone: ZoneInfo) -> tuple[tuple[int, int], ...]:
    """Return the steps of a zone's offset, the newest first: the instant, and the offset then."""
    return _offsets(zone, datetime.now(UTC).year + 2)


@lru_cache(maxsize=1000)
def _offsets(zone: ZoneInfo, end: int) -> tuple[tuple[int, int], ...]:
    quarter, day = timedelta(minutes=15), timedelta(days=1)
    at = datetime(_FIRST_YEAR, 1, 1, tzinfo=UTC)
    steps = [(to_instant(at), _offset(at, zone))]
    while at.year < end:
        if _offset(at + day, zone) != steps[-1][1]:
            step = at + quarter
            while _offset(step, zone) == steps[-1][1]:
                step += quarter
            steps.append((to_instant(step), _offset(step, zone)))
        at += day
    return tuple(reversed(steps))


class _ZoneOffset(Func):
    """The offset of a zone at an instant, given the zone's ``steps``.

    A ``Case`` would have Django compile the instant for each step: most of the cost of a list.
    """

    output_field = BigIntegerField()

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, *_: Any, **_context: Any
    ) -> tuple[str, tuple[Any, ...]]:
        steps = self.extra["steps"]
        instant, given = compiler.compile(*self.get_source_expressions())
        whens = " ".join(f"WHEN {instant} >= {start} THEN {offset}" for start, offset in steps)
        return f"CASE {whens} ELSE {steps[-1][1]} END", tuple(given) * len(steps)


def _offset(at: datetime, zone: ZoneInfo) -> int:
    offset = at.astimezone(zone).utcoffset() or timedelta()
    return offset // timedelta(microseconds=1)
