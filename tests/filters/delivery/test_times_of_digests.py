"""Digests come at times of their own, and their page says what waits, until when, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils import timezone

from filters.authoring.models import Filter
from filters.delivery.dispatch import throttle
from filters.delivery.models import Address, Delivery, Destination
from filters.delivery.pace import MOST_AN_HOUR, mails_a_day
from filters.delivery.status import status_of
from filters.inbox.models import Match
from filters.people.models import User
from tapestry.core.clock import DAY, HOUR, MINUTE, to_datetime, wall_clock
from tapestry.deliver.timing.timeliness import parse_timeliness, shown_at
from tests.support.delivery.recorded_way import Recorder, Store, change_way
from tests.support.delivery.turn import fresh, turn

SignIn = Callable[[User], Client]

NEW = "/delivery/new/digest/"
DAILY = "daily at 08:00"
ZONES = [f"Etc/GMT{hours:+d}" for hours in range(-14, 13)]


@pytest.fixture
def digest(alice: User, way: Recorder, monkeypatch: pytest.MonkeyPatch) -> Destination:
    change_way(monkeypatch, "digest", send=way.send, preview=way.preview)
    address = Address.objects.create(owner=alice, email="al@example.org", confirmed_at=1)
    return Destination.objects.create(
        owner=alice, kind="digest", name="d", address=address, settings={"timeliness": DAILY}
    )


def due_again() -> None:
    Destination.objects.filter(due_at__isnull=False).update(due_at=wall_clock())


def test_a_new_digest_comes_daily(alice: User, as_user: SignIn) -> None:
    client = as_user(alice)
    page = client.get(NEW).content.decode()
    assert '<option value="daily" selected>' in page and 'value="08:00"' in page
    client.post(NEW, {"address": "al@example.org", "which": "all"})
    made = Destination.objects.get()
    assert made.settings == {"timeliness": DAILY}
    given = {"address": "al@example.org", "which": "all", "timeliness_how": "at once"}
    client.post(f"/delivery/{made.pk}/edit/", given)
    assert fresh(made).settings["timeliness"] == "at once"


def test_a_daily_digest_waits_for_its_time_and_has_all_that_came_until_then(
    jones: Filter, digest: Destination, store: Store, way: Recorder
) -> None:
    zone = ZoneInfo(User().time_zone)
    store(jones, "one")
    turn()
    assert way.batches == []
    end = shown_at(parse_timeliness(DAILY), Match.objects.get().shown_at, zone)
    assert fresh(digest).due_at is not None and abs((digest.due_at or 0) - end) < HOUR / 3600
    store(jones, "two")
    due_again()
    turn()
    assert way.batches == []
    with timezone.override(zone):
        said = status_of(fresh(digest))
    assert said.word == "waiting"
    assert said.sentence.startswith("2 matches wait until 08:00")
    assert said.sentence.endswith(": it comes daily at 08:00.")
    Match.objects.update(shown_at=wall_clock() - 25 * HOUR)
    due_again()
    turn()
    assert way.delivered == [("insert", "one"), ("insert", "two")]
    assert status_of(fresh(digest)).word == "on"


def test_what_waits_after_twelve_in_an_hour_is_said(
    jones: Filter, digest: Destination, store: Store, way: Recorder
) -> None:
    Destination.objects.update(settings={})
    most = MOST_AN_HOUR
    for number in range(most + 2):
        store(jones, f"m{number}")
        turn()
        due_again()
    assert len(way.batches) == most == Delivery.objects.count()
    said = status_of(fresh(digest))
    assert said.word == "waiting" and said.sentence.startswith("2 matches wait until ")
    assert said.sentence.endswith(": 12 were sent within an hour, as many as may be.")


def test_what_had_no_new_match_is_not_counted(
    jones: Filter, digest: Destination, store: Store, way: Recorder
) -> None:
    Destination.objects.update(settings={})
    most = MOST_AN_HOUR
    matches = [store(jones, f"m{number}") for number in range(most)]
    turn()
    for match in matches:
        Match.objects.filter(pk=match.pk).update(retracted_at=wall_clock(), sequence=None)
        turn()
    assert Delivery.objects.filter(matches=1, by_filter={}).count() == most
    store(jones, "last")
    turn()
    assert way.delivered[-1] == ("insert", "last")


def test_a_time_that_is_chosen_later_than_it_comes_is_that_of_the_next_day(
    as_user: SignIn, jones: Filter, digest: Destination, store: Store, way: Recorder
) -> None:
    day = to_datetime(wall_clock() + 3 * DAY).strftime("%A").lower()
    Destination.objects.update(settings={"timeliness": f"weekly on {day} at 08:00"})
    store(jones, "one")
    Match.objects.update(shown_at=wall_clock() - 25 * HOUR)
    turn()
    given = {"address": "al@example.org", "which": "all"}
    given |= {"timeliness_how": "daily", "timeliness_time": "08:00"}
    as_user(jones.owner).post(f"/delivery/{digest.pk}/edit/", given)
    assert fresh(digest).settings["timeliness"] == DAILY
    chosen_at = wall_clock()
    turn()
    next_time = shown_at(parse_timeliness(DAILY), chosen_at, ZoneInfo(User().time_zone))
    assert way.batches == [] and abs((fresh(digest).due_at or 0) - next_time) < HOUR / 3600


def test_the_times_of_a_digest_count_in_another_zone_from_when_that_was_chosen(
    alice: User, jones: Filter, digest: Destination, store: Store, way: Recorder
) -> None:
    now = to_datetime(wall_clock())
    before, after = [
        next(zone for zone in ZONES if now.astimezone(ZoneInfo(zone)).hour == hour)
        for hour in (7, 10)
    ]
    User.objects.update(time_zone=before)
    store(jones, "one")
    Match.objects.update(shown_at=wall_clock() - 4 * HOUR)
    turn()
    alice.time_zone = after
    alice.save(update_fields=["time_zone"])
    chosen_at = wall_clock()
    turn()
    next_time = shown_at(parse_timeliness(DAILY), chosen_at, ZoneInfo(after))
    assert way.batches == [] and abs((fresh(digest).due_at or 0) - next_time) < HOUR / 3600
    Destination.objects.update(settings={"timeliness": "at once"}, due_at=wall_clock())
    turn()
    assert way.delivered == [("insert", "one")]


def test_a_time_within_quiet_hours_comes_when_they_end(
    alice: User, jones: Filter, digest: Destination, store: Store, way: Recorder
) -> None:
    store(jones, "one")
    turn()
    Match.objects.update(shown_at=wall_clock() - 25 * HOUR)
    User.objects.update(holiday_until="7999-01-01")
    due_again()
    turn()
    assert way.batches == []
    assert "your quiet hours or your holiday end then" in status_of(fresh(digest)).sentence
    profile = User.objects.get()
    profile.holiday_until = None
    profile.save()
    turn()
    assert way.delivered == [("insert", "one")], "a holiday that is cancelled is over"


def test_a_holiday_that_is_cancelled_as_it_is_read_is_over(
    alice: User, digest: Destination, jones: Filter, store: Store, way: Recorder, monkeypatch: Any
) -> None:
    store(jones, "one")
    Match.objects.update(shown_at=wall_clock() - 25 * HOUR)
    User.objects.update(holiday_until="7999-01-01")
    read = throttle.waits

    def waits(destinations: Any) -> Any:
        found = read(destinations)
        profile = User.objects.get()
        profile.holiday_until = None
        profile.save()
        return found

    monkeypatch.setattr(throttle, "waits", waits)
    turn()
    assert way.delivered == [("insert", "one")]


def test_a_time_that_is_changed_as_it_is_read_counts(
    as_user: SignIn,
    alice: User,
    digest: Destination,
    jones: Filter,
    store: Store,
    way: Recorder,
    monkeypatch: Any,
) -> None:
    client = as_user(alice)
    store(jones, "one")
    given = {"address": "al@example.org", "which": "all", "timeliness_how": "at once"}
    read = throttle.waits

    def waits(destinations: Any) -> Any:
        found = read(destinations)
        client.post(f"/delivery/{digest.pk}/edit/", given)
        return found

    monkeypatch.setattr(throttle, "waits", waits)
    turn()
    assert way.delivered == [("insert", "one")]


def test_it_says_how_many_mails_a_day_at_once_would_have_been(
    jones: Filter, alice: User, as_user: SignIn
) -> None:
    client = as_user(alice)
    assert "At once would have been" not in client.get(NEW).content.decode()
    now = wall_clock() // HOUR * HOUR - 3 * HOUR
    instants = [now, now + 1, now + HOUR, *(now + 2 * HOUR + n * MINUTE for n in range(20))]
    instants.append(wall_clock() - 8 * DAY)
    Match.objects.bulk_create(
        Match(
            filter=jones, msgid=f"{n}@x", audience="public",
            matched_at=at, stored_at=at, shown_at=at,
        )
        for n, at in enumerate(instants)
    )  # fmt: skip
    assert mails_a_day(alice) == 2, "one, one and at most twelve in an hour, over seven days"
    assert "At once would have been about 2 mails a day" in client.get(NEW).content.decode()
