"""The choice of how often new matches are shown, on the pages of a person and of a filter."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from filters.authoring.models import Filter
from filters.inbox.models import Match
from filters.people.models import User
from filters.people.timeliness_field import TimelinessField, TimelinessWidget
from tapestry.core.clock import HOUR, wall_clock

SignIn = Callable[[User], Client]

PERSON = {"email": "c@x.org", "aliases": "", "time_zone": "UTC"}
FILTER = {"text": "from x", "name": "f", "mail": "existing", "visibility": "private"}


def parts(
    how: str,
    minutes: str = "30",
    weekday: str = "monday",
    time: str = "08:00",
    days: str = "3",
) -> list[str]:
    return [how, minutes, weekday, time, days]


def sent(name: str, values: list[str]) -> dict[str, str]:
    """Return the parts as a browser sends them."""
    names = ("how", "minutes", "weekday", "time", "days")
    return {f"{name}_{part}": value for part, value in zip(names, values, strict=True)}


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (parts(""), ""),
        (parts("at once"), "at once"),
        (parts("every", "20"), "every 20 minutes"),
        (parts("every", "60"), "hourly"),
        (parts("hourly"), "hourly"),
        (parts("daily", time="07:05"), "daily at 07:05"),
        (parts("weekly", weekday="friday", time="07:05"), "weekly on Friday at 07:05"),
        (parts("after", days="2"), "after 2 working days"),
        (parts("after", days="1"), "after 1 working day"),
    ],
)
def test_what_the_parts_say_is_a_text_and_back(values: list[str], text: str) -> None:
    field = TimelinessField(is_of_filter=True)
    assert field.clean(values) == text
    assert field.clean(TimelinessWidget().decompress(text)) == text
    data = QueryDict(mutable=True)
    data.update(sent("when", values))
    assert TimelinessWidget().value_from_datadict(data, {}, "when") == values
    assert field.clean(TimelinessWidget().value_from_datadict({"when": text}, {}, "when")) == text


def test_working_days_are_of_single_filters() -> None:
    with pytest.raises(ValidationError, match="for single filters"):
        TimelinessField().clean(parts("after"))


@pytest.mark.parametrize(
    "values",
    [parts("every", ""), parts("every", "0"), parts("daily", time=""), parts("daily", time="8"),
     parts("weekly", weekday="moonday"), parts("soon"), parts("after", days="0")],
)  # fmt: skip
def test_parts_that_say_no_time_are_refused_in_words(values: list[str]) -> None:
    with pytest.raises(ValidationError, match="does not say when"):
        TimelinessField().clean(values)


class TestPerson:
    def test_times_are_stored_and_shown_again(self, as_user: SignIn, carol: User) -> None:
        client = as_user(carol)
        back = timezone.localdate() + timedelta(days=9)
        given = {
            **PERSON,
            **sent("timeliness", parts("daily", time="07:30")),
            "quiet_from": "22:00",
            "quiet_to": "06:45",
            "holiday_until": back.isoformat(),
            "workdays": ["5", "0"],
            "holidays": "2027-05-01\n\n 2026-12-25",
        }
        assert client.post("/me/", given).status_code == 302
        stored = User.objects.get(pk=carol.pk)
        assert stored.timeliness == "daily at 07:30"
        assert (stored.quiet_from, stored.quiet_to) == (22 * 60, 6 * 60 + 45)
        assert stored.holiday_until == back
        assert (stored.workdays, stored.holidays) == ("05", "2026-12-25\n2027-05-01")
        page = client.get("/me/").content.decode()
        for value in ("07:30", "22:00", "06:45", back.isoformat()):
            assert f'value="{value}"' in page
        assert '<option value="daily" selected>' in page and "as usual" not in page

    def test_all_may_be_left_empty_again(self, as_user: SignIn, carol: User) -> None:
        times = {"quiet_from": 5, "quiet_to": 6, "timeliness": "hourly"}
        User.objects.filter(pk=carol.pk).update(**times, holiday_until=date(2001, 1, 1))
        assert '"2001-01-01"' not in as_user(carol).get("/me/").content.decode()
        given = {**PERSON, "quiet_from": "", "quiet_to": "", "holiday_until": ""}
        assert as_user(carol).post("/me/", given).status_code == 302
        stored = User.objects.get(pk=carol.pk)
        assert (stored.quiet_from, stored.quiet_to, stored.holiday_until) == (None, None, None)
        assert (stored.timeliness, stored.workdays) == ("at once", "01234")

    def test_a_line_that_is_no_day_is_refused(self, as_user: SignIn, carol: User) -> None:
        answer = as_user(carol).post("/me/", {**PERSON, "holidays": "2027-05-01\nMay"})
        assert answer.status_code == 400
        assert "“May” is not a day." in answer.content.decode()

    def test_what_waits_follows(self, as_user: SignIn, carol: User) -> None:
        made = Filter.objects.create(owner=carol, name="f", text="from x")
        now = wall_clock()
        at = {"audience": "public", "matched_at": now, "stored_at": now, "shown_at": now + HOUR}
        Match.objects.create(filter=made, msgid="a", **at)
        given = {**PERSON, "holiday_until": "8999-12-31"}
        assert as_user(carol).post("/me/", given).status_code == 302
        assert Match.objects.get().shown_at > now + 1000 * HOUR

    @pytest.mark.parametrize(
        ("wrong", "sentence"),
        [
            ({"timeliness": "soon"}, "does not say when"),
            (sent("timeliness", parts("every", "0")), "does not say when"),
            ({"quiet_from": "22:00"}, "Write both times, or leave both empty."),
            ({"quiet_to": "22:00"}, "Write both times, or leave both empty."),
            ({"quiet_from": "22:00", "quiet_to": "22:00"}, "Choose a time other than"),
            ({"quiet_from": "25:00", "quiet_to": "06:00"}, "Write the time as 22:00"),
            ({"holiday_until": "2001-01-01"}, "Choose a day in the future, or none."),
            ({"holiday_until": "9999-12-31"}, "Choose a day before 9001, or none."),
            ({"holiday_until": "tomorrow"}, "Write the day as 2027-01-31"),
        ],
    )
    def test_nonsense_is_refused_in_words(
        self, as_user: SignIn, carol: User, wrong: dict[str, str], sentence: str
    ) -> None:
        browser = as_user(carol)
        before = User.objects.values().get(pk=carol.pk)
        response = browser.post("/me/", {**PERSON, **wrong})
        assert response.status_code == 400
        assert sentence in response.content.decode()
        assert User.objects.values().get(pk=carol.pk) == before


class TestFilter:
    def test_a_new_filter_has_what_is_usual_for_its_owner(
        self, as_user: SignIn, carol: User
    ) -> None:
        User.objects.filter(pk=carol.pk).update(timeliness="daily at 08:00")
        client = as_user(carol)
        page = client.get("/filters/new/").content.decode()
        assert '<option value="" selected>as usual (daily at 08:00)</option>' in page
        given = {**FILTER, **sent("timeliness", parts(""))}
        assert client.post("/filters/new/", given).status_code == 302
        made = Filter.objects.get()
        assert (made.timeliness, made.while_unread) == ("", False)
        assert "<span>as usual</span>" in client.get("/filters/").content.decode()

    def test_it_may_have_a_time_of_its_own_and_wait_while_others_are_unread(
        self, as_user: SignIn, carol: User
    ) -> None:
        client = as_user(carol)
        own = sent("timeliness", parts("weekly", weekday="friday"))
        client.post("/filters/new/", {**FILTER, **own, "while_unread": "on"})
        made = Filter.objects.get()
        assert (made.timeliness, made.while_unread) == ("weekly on Friday at 08:00", True)
        page = client.get("/filter/f/edit/").content.decode()
        assert '<option value="weekly" selected>' in page
        assert '<option value="friday" selected>' in page
        assert 'name="while_unread" id="id_while_unread" checked' in page
        listed = client.get("/filters/").content.decode()
        assert "weekly on Friday at 08:00, not while it has unread messages" in listed
        client.post("/filter/f/edit/", {**FILTER, **sent("timeliness", parts(""))})
        made.refresh_from_db()
        assert (made.timeliness, made.while_unread) == ("", False)

    def test_what_was_chosen_is_there_again_when_something_is_refused(
        self, as_user: SignIn, carol: User
    ) -> None:
        wrong: dict[str, Any] = {**FILTER, **sent("timeliness", parts("daily", time="25:00"))}
        response = as_user(carol).post("/filters/new/", wrong)
        page = response.content.decode()
        assert response.status_code == 400
        assert '<option value="daily" selected>' in page and "does not say when" in page
