"""Until when one snoozes: moments in one's own time zone, over changes of its offset too."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from filters.inbox.triage import snoozing
from filters.inbox.triage.snoozing import moments, read_moment
from filters.people.models import User
from tapestry.core.clock import to_datetime, to_instant
from tapestry.core.errors import TapestryError

BERLIN = ZoneInfo("Europe/Berlin")


def at(year: int, month: int, day: int, hour: int, minute: int = 0) -> int:
    return to_instant(datetime(year, month, day, hour, minute, tzinfo=BERLIN))


@pytest.mark.parametrize(
    ("now", "offered"),
    [
        (at(2026, 11, 25, 9), ["Wed 25 18:00", "Thu 26 08:00", "Mon 30 08:00"]),
        (at(2026, 11, 25, 18), ["Thu 26 08:00", "Mon 30 08:00"]),
        (at(2026, 10, 24, 9), ["Sat 24 18:00", "Sun 25 08:00", "Mon 26 08:00"]),  # clocks go back
        (at(2026, 11, 30, 0, 30), ["Mon 30 18:00", "Tue 01 08:00", "Mon 07 08:00"]),
    ],
)
def test_moments_are_those_of_the_persons_day(now: int, offered: list[str]) -> None:
    said = [to_datetime(moment.instant).astimezone(BERLIN) for moment in moments(BERLIN, now)]
    assert [f"{moment:%a %d %H:%M}" for moment in said] == offered


def test_a_chosen_moment_is_in_the_persons_time_zone(
    bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snoozing, "wall_clock", lambda: at(2026, 11, 25, 9))
    assert read_moment(bob, "chosen", "2026-12-24T18:30") == at(2026, 12, 24, 18, 30)
    assert read_moment(bob, "chosen", "2026-12-24T18:30Z") == at(2026, 12, 24, 19, 30)
    assert read_moment(bob, "week", "") == at(2026, 11, 30, 8)
    for name, chosen in (
        ("chosen", "2026-11-25T09:00"),
        ("chosen", "2037-01-01T00:00"),
        ("chosen", "0001-01-01T00:00"),
        ("chosen", "soon"),
        ("evenings", ""),
        ("", ""),
    ):
        with pytest.raises(TapestryError):
            read_moment(bob, name, chosen)
