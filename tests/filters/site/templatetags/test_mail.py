"""How mail is shown."""

from __future__ import annotations

import pytest

from filters.site.templatetags import mail
from filters.site.templatetags.mail import age, hue, initial, moment
from tapestry.core.clock import DAY, HOUR, MINUTE, SECOND, wall_clock


@pytest.mark.parametrize(
    ("ago", "said"),
    [
        (0, "now"),
        (59 * SECOND, "now"),
        (5 * MINUTE, "5 min"),
        (23 * HOUR, "23 h"),
        (6 * DAY, "6 d"),
    ],
)
def test_ages(ago: int, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = wall_clock()
    monkeypatch.setattr(mail, "wall_clock", lambda: now)
    assert age(now - ago) == said


def test_ages_of_long_ago_and_of_clocks_that_are_wrong() -> None:
    assert age(1_000_000_000_000_000) == "9 Sep 2001"
    assert age(wall_clock() + 400 * DAY).count("-") == 2
    assert age(2**62) == ""
    assert age(None) == ""
    assert moment(-(2**62)) is None


@pytest.mark.parametrize(("who", "letter"), [("Mary", "M"), ('"élan"', "É"), ("…", "?"), ("", "?")])
def test_initials(who: str, letter: str) -> None:
    assert initial(who) == letter


def test_colours_stay() -> None:
    assert hue("Mary") == hue("mary")
    assert 0 <= hue("") < 8
