"""What people write, in their own words and in those of other programs, is understood."""

import re
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from tapestry.core.clock import to_instant
from tapestry.core.errors import TapestryError
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.tree.printer import print_tql
from tests.support.formats import datadriven as fixtures
from tests.support.paths import FIXTURES

REQUESTS = FIXTURES / "query" / "phrases" / "requests.test"
BERLIN = ZoneInfo("Europe/Berlin")
TERRY = Context(
    "terry",
    ("terry@parc.com",),
    lambda owner, name: f"about {name}",
    now=to_instant(datetime(2026, 3, 18, 10, tzinfo=BERLIN)),
    zone=BERLIN,
)
QUOTED = re.compile("“(.*?)”")


def refusal(text):
    with pytest.raises(TapestryError) as caught:
        read(text, TERRY)
    return caught.value


def answer(case):
    """Return how a request is understood, or refused."""
    if case.command == "refused":
        return refusal(case.input).render()
    query = read(case.input, TERRY)
    same = read(query.phrase, TERRY)
    assert (same.phrase, same.condition) == (query.phrase, query.condition)
    return f"{query.phrase}\n{print_tql(query)}"


def requests(command):
    cases, _ = fixtures.parse(REQUESTS.read_text())
    return [case.input for case in cases if case.command == command]


def test_requests_are_understood_or_refused_with_a_suggestion(datadriven):
    datadriven(REQUESTS, answer)


def test_of_more_than_two_hundred_requests_at_most_one_in_twenty_is_refused():
    understood, refused = requests("request"), requests("refused")
    assert len(set(understood + refused)) >= 200
    assert len(refused) * 20 <= len(understood + refused)


@pytest.mark.parametrize("request_", requests("refused"))
def test_what_a_refusal_suggests_can_be_typed_in_its_place(request_):
    error = refusal(request_)
    suggested = QUOTED.findall(error.hint)[0]
    assert error.span is not None
    corrected = request_[: error.span.start] + suggested + request_[error.span.end :]
    assert read(corrected, TERRY).condition


def test_a_date_is_that_of_the_owner_and_is_not_known_without_a_clock():
    assert print_tql(read("on 1 April 2026", TERRY)) == (
        "m.received >= TIMESTAMP '2026-03-31 22:00:00' AND "
        "m.received < TIMESTAMP '2026-04-01 22:00:00'"
    )
    assert print_tql(read("before 2024", Context())) == (
        "m.received < TIMESTAMP '2024-01-01 00:00:00'"
    )
    with pytest.raises(TapestryError, match="depends on the day it is read"):
        read("since Monday", Context())


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("since Wednesday", "since 18 March 2026"),
        ("since Thursday", "since 12 March 2026"),
        ("since today", "since 18 March 2026"),
        ("since 18 March", "since 18 March 2026"),
        ("since 19 March", "since 19 March 2025"),
        ("on 29 February", "on 29 February 2024"),
        ("in April", "in April 2025"),
    ],
)
def test_a_date_without_a_year_is_the_latest_that_has_begun(text, phrase):
    query = read(text, TERRY)
    assert (query.phrase, query.lasting_text) == (phrase, phrase)


def test_what_means_the_same_tomorrow_is_kept_as_it_is_written():
    for text in ("From mary TODAY", "since 2024", "m.size > 3"):
        assert read(text, TERRY).lasting_text == text


@pytest.mark.parametrize("day", ["31 December 9999", "1 January 1000", "0 March 2024", "9999"])
def test_dates_at_the_ends_of_the_calendar_are_read_or_refused(day):
    for word in ("since", "after", "before", "until", "on"):
        try:
            query = read(f"{word} {day}", TERRY)
        except TapestryError as error:
            assert error.hint
        else:
            assert read(query.phrase, TERRY).condition == query.condition


def test_in_the_filter_of_another_person_a_day_is_that_persons():
    context = Context(
        "terry",
        resolve=lambda owner, name: "since 1 March 2026",
        zone=BERLIN,
        zone_of={"mary": ZoneInfo("America/New_York")}.__getitem__,
    )
    assert print_tql(read("in mary's march", context)) == (
        "m.received >= TIMESTAMP '2026-03-01 05:00:00'"
    )
