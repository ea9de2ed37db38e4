"""When matches are shown: planned, held while others are unread, planned anew after changes."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.core.exceptions import ValidationError

from filters.authoring.models import Filter
from filters.inbox.lists import listing
from filters.inbox.models import Card
from filters.inbox.models import Match as StoredMatch
from filters.inbox.triage.actions import ACTIONS
from filters.inbox.triage.steps import act
from filters.inbox.triage.targets import unread_targets
from filters.people.models import User
from filters.runs.models import SetAside
from filters.runs.store import schedule
from filters.runs.store.filter_store import DjangoFilterStore
from filters.runs.store.release import release
from filters.runs.store.schedule import HELD, plan_held, replan
from filters.runs.store.visibility_loss import drop_invisible
from filters.site.work import set_aside
from tapestry.core.clock import DAY, HOUR, MINUTE, format_instant, parse_instant, to_datetime
from tapestry.core.ports import Match
from tapestry.tables.delta.log import Tables
from tests.support.faults.races import race
from tests.support.faults.set_asides import Planted
from tests.support.lists.live_filters import arrive, listed, run
from tests.support.lists.live_filters import install as install_live
from tests.support.set_clock import SetClock

BERLIN = ZoneInfo("Europe/Berlin")
Capture = Callable[..., Any]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SetClock:
    """The clock of these tests, at ten in the evening of bob's."""
    return SetClock(parse_instant("2026-07-01T20:00:00Z"), monkeypatch)


def install(owner: User, name: str = "f", **fields: Any) -> Filter:
    """A filter of no mail, and with a window of its own."""
    return Filter.objects.create(owner=owner, name=name, text="from x", tql="from x", **fields)


def find(filter_: Filter, *msgids: str) -> None:
    """A window is stored in which the filter found these messages, and they get their cards."""
    store = DjangoFilterStore()
    until = schedule.wall_clock()
    due = [row for row in store.due(until) if row.filter_id == filter_.pk]
    found = [Match(filter_.pk, msgid, "public", until, 0, (msgid,)) for msgid in msgids]
    assert store.commit(due, until, found)
    for msgid in msgids:
        times = {"ts": until, "received": until}
        card, _ = Card.objects.get_or_create(times, msgid=msgid, audience="public")
        StoredMatch.objects.filter(filter=filter_, msgid=msgid).update(card=card)


def shown(filter_: Filter) -> dict[str, str]:
    """Return when each match of a filter is shown."""
    rows = filter_.matches.values_list("msgid", "shown_at")
    return {msgid: "held" if at == HELD else format_instant(at) for msgid, at in rows}


def mark_all_read(owner: User, filter_: Filter | None = None) -> None:
    """Mark as read what is unread in a list, as the button above it does."""
    act(owner, ACTIONS["read"], unread_targets(owner, filter_))


def choose(owner: User, **choices: Any) -> None:
    """A person is saved with other choices."""
    for name, value in choices.items():
        setattr(owner, name, value)
    owner.save()


class TestPlanned:
    def test_a_filter_has_its_owners_default_and_quiet_hours_and_holiday(
        self, bob: User, carol: User, clock: SetClock
    ) -> None:
        night = {"quiet_from": 22 * 60, "quiet_to": 7 * 60}
        User.objects.filter(pk=bob.pk).update(timeliness="daily at 08:00", **night)
        User.objects.filter(pk=carol.pk).update(holiday_until=date(2026, 7, 9))
        expected = {
            install(bob): "2026-07-02T06:00:00Z",
            install(bob, "own", timeliness="at once"): "2026-07-02T05:00:00Z",
            install(carol): "2026-07-09T00:00:00Z",
            install(User.objects.create_user("new")): "2026-07-01T20:00:00Z",
        }
        for filter_, instant in expected.items():
            find(filter_, "a")
            assert shown(filter_) == {"a": instant}

    def test_a_window_of_many_filters_takes_no_more_statements(
        self, bob: User, clock: SetClock, django_assert_num_queries: Capture
    ) -> None:
        rows = [Filter(owner=bob, name=f"f{n}", text="x", tql="x") for n in range(600)]
        made = Filter.objects.bulk_create(rows)
        found = [Match(filter_.pk, "a", "public", 1, 0, ()) for filter_ in made]
        with django_assert_num_queries(1):
            assert set(schedule.when_shown(found, clock.now).values()) == {clock.now}
        Filter.objects.update(while_unread=True)
        with django_assert_num_queries(2):
            schedule.when_shown(found, clock.now)

    @pytest.mark.parametrize("model", [Filter, User])
    def test_a_text_that_says_no_time_is_refused(self, bob: User, model: type[Any]) -> None:
        row = install(bob) if model is Filter else bob
        row.timeliness = "soon"
        with pytest.raises(ValidationError, match="does not say when"):
            row.full_clean()


class TestHeld:
    @pytest.fixture
    def filter_(self, bob: User, clock: SetClock) -> Filter:
        """A filter whose first match is shown and unread, and whose second is held."""
        made = install(bob, while_unread=True)
        find(made, "a")
        clock.now += MINUTE
        find(made, "b")
        assert shown(made) == {"a": "2026-07-01T20:00:00Z", "b": "held"}
        clock.now += MINUTE
        return made

    def test_it_is_shown_when_what_is_there_was_read(
        self, bob: User, filter_: Filter, clock: SetClock
    ) -> None:
        assert listing.mark_read(bob, "a")
        assert shown(filter_)["b"] == format_instant(clock.now)
        assert not listing.mark_read(bob, "a")

    def test_it_is_planned_from_then_by_the_timeliness(
        self, bob: User, filter_: Filter, clock: SetClock
    ) -> None:
        choose(bob, timeliness="hourly")
        assert shown(filter_)["b"] == "held"
        clock.now += 3 * HOUR
        mark_all_read(bob)
        assert shown(filter_)["b"] == "2026-07-02T00:00:00Z"

    def test_all_of_a_filter_are_marked_as_read(self, bob: User, filter_: Filter) -> None:
        other = install(bob, "other", while_unread=True)
        mark_all_read(bob, other)
        assert shown(filter_)["b"] == "held"
        mark_all_read(bob, filter_)
        assert shown(filter_)["b"] != "held"

    def test_it_stays_held_while_anything_is_unread(self, bob: User, filter_: Filter) -> None:
        first = StoredMatch.objects.get(msgid="a")
        first.pk, first.msgid = None, "c"
        first.save()
        listing.mark_read(bob, "a")
        assert plan_held() == 0 and shown(filter_)["b"] == "held"
        listing.mark_read(bob, "c")
        assert shown(filter_)["b"] != "held"

    def test_what_waits_for_its_time_is_not_unread(
        self, bob: User, filter_: Filter, clock: SetClock
    ) -> None:
        StoredMatch.objects.filter(msgid="a").update(shown_at=clock.now + HOUR)
        assert plan_held() == 1

    def test_it_is_shown_when_all_that_is_unread_may_not_be_seen_any_more(
        self, bob: User, filter_: Filter, tables: Tables
    ) -> None:
        assert drop_invisible(StoredMatch.objects.filter(msgid="a")) == 1
        assert shown(filter_).keys() == {"b"} and shown(filter_)["b"] != "held"

    @pytest.mark.parametrize("is_aside", [True, False])
    def test_what_cannot_be_listed_holds_back_nothing(
        self, filter_: Filter, clock: SetClock, is_aside: bool, set_asides: Planted
    ) -> None:
        set_asides.expect()
        unlisted = StoredMatch.objects.filter(msgid="a")
        unlisted.update(card=None)
        assert plan_held() == 0, "its card is being made"
        if is_aside:
            set_aside.add(SetAside.Kind.MATCH, unlisted.get().pk, ValueError())
        else:
            unlisted.update(refreshed_at=clock.now)
        assert plan_held() == 1

    def test_the_periodic_call_finds_what_was_read_while_it_was_stored(
        self, bob: User, carol: User, filter_: Filter, clock: SetClock
    ) -> None:
        other = install(carol, while_unread=True)
        find(other, "c")
        find(other, "d")
        StoredMatch.objects.filter(msgid="a").update(read_at=clock.now)
        assert plan_held() == 1
        assert (shown(filter_)["b"], shown(other)["d"]) == (format_instant(clock.now), "held")

    def test_many_filters_are_released_in_few_statements(
        self, bob: User, clock: SetClock, django_assert_num_queries: Capture
    ) -> None:
        rows = [
            Filter(owner=bob, name=f"f{n}", text="x", tql="x", while_unread=True)
            for n in range(600)
        ]
        at = {"audience": "public", "matched_at": 1, "stored_at": 1, "shown_at": HELD}
        made = Filter.objects.bulk_create(rows)
        StoredMatch.objects.bulk_create(StoredMatch(filter=f, msgid="m", **at) for f in made)
        with django_assert_num_queries(4):
            assert plan_held() == 600
        with django_assert_num_queries(1):
            assert plan_held() == 0

    def test_it_can_be_shown_now(self, filter_: Filter, clock: SetClock) -> None:
        assert listing.show_now(filter_) == 1
        assert shown(filter_)["b"] == format_instant(clock.now)

    def test_when_nothing_is_held_any_more_it_is_planned(
        self, filter_: Filter, clock: SetClock
    ) -> None:
        Filter.objects.update(while_unread=False)
        assert replan(Filter.objects.all()) == 1
        assert shown(filter_)["b"] == format_instant(clock.now)


@pytest.mark.usefixtures("engine")
def test_what_leaves_a_live_filter_is_not_unread(tables: Tables, carol: User) -> None:
    install_live(carol, "with no reply", while_unread=True)
    arrive(tables, "why")
    run()
    arrive(tables, "because", "why")
    run()
    assert listed(carol) == {"because"}


class TestPlannedAnew:
    @pytest.fixture
    def filter_(self, bob: User, clock: SetClock) -> Filter:
        """A filter with one match that is shown and one that waits until eight in the morning."""
        made = install(bob)
        find(made, "shown")
        choose(bob, timeliness="daily at 08:00")
        find(made, "waits")
        assert shown(made)["waits"] == "2026-07-02T06:00:00Z"
        clock.now += HOUR
        return made

    @pytest.mark.parametrize(
        ("choices", "instant"),
        [
            ({"timeliness": "at once"}, "2026-07-01T21:00:00Z"),
            ({"timeliness": "hourly"}, "2026-07-01T21:00:00Z"),
            ({"timeliness": "daily at 22:30"}, "2026-07-02T20:30:00Z"),
            ({"timeliness": "weekly on Sunday at 09:00"}, "2026-07-05T07:00:00Z"),
            ({"time_zone": "UTC"}, "2026-07-02T08:00:00Z"),
            ({"quiet_from": 22 * 60, "quiet_to": 9 * 60}, "2026-07-02T07:00:00Z"),
            ({"holiday_until": date(2026, 7, 9)}, "2026-07-09T06:00:00Z"),
            ({"aliases": ["b@x.org"]}, "2026-07-02T06:00:00Z"),
        ],
    )
    def test_what_waits_follows_the_profile_and_what_was_shown_stays(
        self, bob: User, filter_: Filter, choices: dict[str, Any], instant: str
    ) -> None:
        choose(bob, **choices)
        assert shown(filter_) == {"shown": "2026-07-01T20:00:00Z", "waits": instant}

    def test_a_filter_with_a_time_of_its_own_does_not_follow_the_default(
        self, bob: User, filter_: Filter
    ) -> None:
        Filter.objects.update(timeliness="daily at 08:00")
        choose(bob, timeliness="at once")
        assert shown(filter_)["waits"] == "2026-07-02T06:00:00Z"

    def test_other_people_are_left_alone(
        self, bob: User, carol: User, filter_: Filter, clock: SetClock
    ) -> None:
        other = install(carol, timeliness="daily at 08:00")
        find(other, "theirs")
        choose(bob, timeliness="at once")
        assert shown(other) == {"theirs": "2026-07-02T08:00:00Z"}

    def test_it_is_held_or_not_as_the_filter_now_says(self, filter_: Filter) -> None:
        Filter.objects.update(while_unread=True)
        assert replan(Filter.objects.all()) == 1
        assert shown(filter_)["waits"] == "held"
        StoredMatch.objects.update(read_at=1)
        replan(Filter.objects.all())
        assert shown(filter_)["waits"] == "2026-07-02T06:00:00Z"

    def test_what_was_released_stays_though_the_clock_was_set_back_since(
        self, bob: User, filter_: Filter, clock: SetClock
    ) -> None:
        clock.now += DAY
        assert release() == 2
        clock.now -= DAY
        choose(bob, quiet_from=22 * 60, quiet_to=9 * 60)
        assert shown(filter_)["waits"] == "2026-07-02T06:00:00Z"
        assert listing.show_now(filter_) == 0

    def test_what_has_left_is_not_brought_back(self, bob: User, filter_: Filter) -> None:
        StoredMatch.objects.filter(msgid="shown").update(retracted_at=1)
        choose(bob, timeliness="at once")
        assert StoredMatch.objects.get(msgid="shown").retracted_at == 1


@pytest.mark.django_db(transaction=True)
def test_a_window_that_is_stored_meanwhile_is_planned_by_what_was_chosen_last(bob: User) -> None:
    made = install(bob)
    choose(bob, timeliness="weekly on Tuesday at 08:00")
    bob.timeliness = "weekly on Friday at 08:00"
    race(lambda: find(made, "a"), bob.save)
    shown_at = to_datetime(StoredMatch.objects.get().shown_at)
    assert shown_at.astimezone(BERLIN).strftime("%A %H:%M") == "Friday 08:00"


CHOICES: dict[str, Callable[[random.Random, int], Any]] = {
    "timeliness": lambda chance, _: chance.choice(
        ["at once", "every 50 minutes", "hourly", "daily at 08:00", "weekly on Monday at 23:30"]
    ),
    "time_zone": lambda chance, _: chance.choice(["UTC", "Europe/Berlin", "Asia/Kolkata"]),
    "quiet_from": lambda chance, _: chance.choice([None, 22 * 60, 12 * 60]),
    "quiet_to": lambda chance, _: chance.choice([None, 7 * 60, 13 * 60]),
    "holiday_until": lambda chance, now: chance.choice(
        [None, to_datetime(now).date() + timedelta(days=chance.randint(-1, 4))]
    ),
}


def may_be_shown(owner: User, now: int) -> bool:
    """Tell, by the clock on the wall, whether a person is shown anything at an instant."""
    local = to_datetime(now).astimezone(ZoneInfo(owner.time_zone))
    if owner.holiday_until is not None and local.date() < owner.holiday_until:
        return False
    begin, end = owner.quiet_from, owner.quiet_to
    if begin is None or end is None:
        return True
    minute = local.hour * 60 + local.minute
    return not (begin <= minute < end if begin < end else minute >= begin or minute < end)


SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 8))]
"""The first two begin before the clocks are set back, and before they are set forward."""


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_happens_each_match_is_shown_once_and_when_it_may_be(
    bob: User, clock: SetClock, seed: int
) -> None:
    chance = random.Random(seed)
    clock.now = parse_instant(chance.choice(["2026-03-27T00:00:00Z", "2026-10-23T00:00:00Z"]))
    filters = [install(bob, "plain"), install(bob, "held", while_unread=True)]
    stored: set[str] = set()

    def look(**which: Any) -> set[str]:
        return set(
            StoredMatch.objects.visible_to(bob).filter(**which).values_list("msgid", flat=True)
        )

    for number in range(100):
        step = chance.choice(
            ["store", "store", "read", "read", "read all", "choose", "time", "time"]
        )
        before = look()
        if step == "store":
            msgid = f"m{number}"
            stored.add(msgid)
            find(chance.choice(filters), msgid)
        elif step == "read" and (unread := look(read_at=None)):
            listing.mark_read(bob, chance.choice(sorted(unread)))
        elif step == "read all":
            mark_all_read(bob)
        elif step == "choose":
            name = chance.choice(sorted(CHOICES))
            choose(bob, **{name: CHOICES[name](chance, clock.now)})
        elif step == "time":
            clock.now += chance.choice([MINUTE, 17 * MINUTE, HOUR, 9 * HOUR, 2 * DAY])
            between = StoredMatch.objects.filter(shown_at__lte=clock.now).exclude(msgid__in=before)
            for shown_at in between.values_list("shown_at", flat=True):
                assert may_be_shown(bob, shown_at)
        after = look()
        assert before <= after, "what has been shown stays"
        if step != "time" and after - before:
            assert may_be_shown(bob, clock.now)
        for filter_ in filters:
            assert look(filter=filter_, read_at=None) or "held" not in shown(filter_).values()
    choose(bob, holiday_until=None)
    for _ in range(3):
        clock.now += 10 * DAY
        mark_all_read(bob)
    assert look() == stored, "nothing is lost"
    assert StoredMatch.objects.count() == len(stored)
