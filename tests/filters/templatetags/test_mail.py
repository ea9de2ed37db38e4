"""How mail is shown."""

from __future__ import annotations

import pytest

from filters.templatetags.mail import age, body, hue, initial, moment
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
def test_ages(ago: int, said: str) -> None:
    assert age(wall_clock() - ago) == said


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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (None, ""),
        ("a < b & c", "a &lt; b &amp; c"),
        (
            "> a\n>> b",
            '<span class="quote q1">&gt; a</span>\n<span class="quote q2">&gt;&gt; b</span>',
        ),
        (
            "x\n-- \nme",
            'x\n<span class="signature">-- </span>\n<span class="signature">me</span>',
        ),
    ],
)
def test_bodies(text: str | None, shown: str) -> None:
    assert body(text) == shown


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("see http://a.org/x.", ["http://a.org/x"]),
        ("(http://a.org/x)", ["http://a.org/x"]),
        ("http://a.org/x_(y) z", ["http://a.org/x_(y)"]),
        ("<https://a.org/?a=1&b=2>", ["https://a.org/?a=1&amp;b=2"]),
        ("javascript:alert(1) ftp://x", []),
        ('http://a.org/"onclick="x', ["http://a.org/"]),
    ],
)
def test_links(text: str, links: list[str]) -> None:
    html = body(text)
    assert [part.split('"')[0] for part in html.split('<a href="')[1:]] == links
