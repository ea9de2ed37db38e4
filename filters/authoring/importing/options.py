"""The options of a filter in Tapestry's own file: for its form, and in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, tzinfo
from typing import Any

from filters.authoring.models import ACTS_A_DAY, Filter, acts_words
from filters.people.forms import LAST_YEAR
from filters.runs.store.expiry import last_instant
from tapestry.core.clock import format_instant, parse_instant, to_datetime, wall_clock
from tapestry.core.errors import TapestryError

DEFAULTS = {"mail": "existing", "mode": "keep", "visibility": "private", "timeliness": ""}
FLAGS = ("while_unread", "paused")
INSTANTS = ("start", "until")

FIRST_YEAR = 1900
"""The first year that is read: before all mail.  The year 1 begins in no zone west of UTC."""


@dataclass(frozen=True, slots=True)
class Period:
    """The instants from which on and up to which a filter collects, None where there is none."""

    start: int | None
    end: int | None

    @property
    def is_over(self) -> bool:
        return self.end is not None and self.end < wall_clock()


def form_data(options: Mapping[str, str]) -> dict[str, Any]:
    """Return what the form of a filter is given; when it runs is none of that."""
    data: dict[str, Any] = DEFAULTS | {
        key: value for key, value in options.items() if key not in (*FLAGS, *INSTANTS)
    }
    if options.get("start"):
        data["mail"] = "new"
    acts = {"acts": options.get("acts", "").split()}
    return data | acts | {"while_unread": is_set(options, "while_unread")}


def is_set(options: Mapping[str, str], flag: str) -> bool:
    """Return whether a flag is set; raises TapestryError if it is neither ``yes`` nor ``no``."""
    value = options.get(flag, "")
    if value not in ("", "yes", "no"):
        raise TapestryError(f"Write {flag} as “yes” or “no”, or leave it out.")
    return value == "yes"


def period_of(options: Mapping[str, str], zone: tzinfo) -> Period:
    """Return when a filter runs; a day ends in a time zone.  Raises TapestryError."""
    start, until = options.get("start", ""), options.get("until", "")
    return Period(
        _instant("start", start) if start else None,
        _end(until, zone) if until else None,
    )


def until_text(end: int, zone: tzinfo) -> str:
    """Return an end as the file has it: a day, if that ends then.

    >>> from zoneinfo import ZoneInfo
    >>> until_text(86399999999, ZoneInfo("UTC")), until_text(86399999999, ZoneInfo("Asia/Tokyo"))
    ('1970-01-01', '1970-01-01T23:59:59.999999Z')
    """
    day = to_datetime(end).astimezone(zone).date()
    return str(day) if last_instant(day, zone) == end else format_instant(end)


def option_words(options: Mapping[str, str], zone: tzinfo) -> Iterator[str]:
    """Yield what the options of a filter say, but for who may see it.

    Raises TapestryError for an option that is none.
    """
    period = period_of(options, zone)
    if options.get("mode") == Filter.Mode.LIVE:
        yield "live: messages stay only while they match"
    if options.get("mode") == Filter.Mode.WAIT:
        yield "it waits for all sources of mail that you see"
    timeliness = options.get("timeliness") or "as usual"
    unread = ", not while it has unread messages" if is_set(options, "while_unread") else ""
    yield f"new matches are shown {timeliness}{unread}"
    yield from acts_facts(options)
    if period.start is not None:
        yield f"from {_day(period.start, zone)} on"
    else:
        yield "with existing mail" if form_data(options)["mail"] == "existing" else "from now on"
    if period.end is not None:
        yield f"until {_day(period.end, zone)}{', which is over' if period.is_over else ''}"
    if is_set(options, "paused"):
        yield "paused: it does not run until you resume it"


def acts_facts(options: Mapping[str, str]) -> Iterator[str]:
    """Yield what a filter does with what it finds."""
    if words := acts_words(options.get("acts", "").split(), options.get("acts_label", "")):
        a_day = options.get("acts_a_day") or ACTS_A_DAY
        yield f"{words}, for at most {a_day} messages a day, from now on"


def _end(written: str, zone: tzinfo) -> int:
    try:
        day = date.fromisoformat(written)
    except ValueError:
        return _instant("until", written)
    if not FIRST_YEAR <= day.year <= LAST_YEAR:
        raise TapestryError(
            f"Write a day of the years {FIRST_YEAR} to {LAST_YEAR} as until, or leave it out."
        )
    return last_instant(day, zone)


def _instant(key: str, written: str) -> int:
    try:
        instant = parse_instant(written)
    except ValueError:
        raise TapestryError(
            f"Write {key} as 2027-01-31T12:00:00Z{', or as 2027-01-31' if key == 'until' else ''}."
        ) from None
    if not FIRST_YEAR <= to_datetime(instant).year <= LAST_YEAR:
        raise TapestryError(f"Write {key} with a year from {FIRST_YEAR} to {LAST_YEAR}.")
    return instant


def _day(instant: int, zone: tzinfo) -> str:
    day = to_datetime(instant).astimezone(zone)
    return f"{day.day} {day:%B %Y}"
