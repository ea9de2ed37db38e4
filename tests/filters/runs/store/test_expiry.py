"""Filters that have an end: what matches later is not kept, and they stop when run to it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from filters.authoring import lifecycle
from filters.authoring.compilation.dependents import present
from filters.authoring.models import Filter
from filters.inbox.models import Match as StoredMatch
from filters.people.models import User
from filters.runs import rounds
from filters.runs.models import SharedWindow
from filters.runs.store.expiry import last_instant
from filters.runs.store.filter_store import DjangoClock, DjangoFilterStore
from filters.site.work import set_aside
from tapestry.core.clock import DAY, to_instant, wall_clock
from tapestry.core.message import Message
from tapestry.core.ports import Change, Match
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.faults.set_asides import Planted

STORE = DjangoFilterStore()
END = 100

Sign = Callable[[User], Client]


def ending(owner: User, **fields: object) -> Filter:
    values = {"name": "f", "text": "t", "tql": "t", "since": 50, "end": END, **fields}
    return Filter.objects.create(owner=owner, **values)


def found_in(expiring: Filter, *instants: int) -> list[Match]:
    return [Match(expiring.pk, f"{at}@x", "public", at, 0, ()) for at in instants]


def stored() -> set[int]:
    return set(StoredMatch.objects.values_list("matched_at", flat=True))


def state(expiring: Filter) -> tuple[bool, bool, int]:
    expiring.refresh_from_db()
    return expiring.active, expiring.enrolled, expiring.since


class TestOwnWindow:
    def test_what_matches_after_its_end_is_not_kept(self, alice: User) -> None:
        expiring = ending(alice)
        assert STORE.commit(STORE.due(150), 150, found_in(expiring, 99, 100, 101))
        assert stored() == {99, 100}

    def test_it_stops_at_its_end(self, alice: User) -> None:
        expiring = ending(alice)
        assert STORE.commit(STORE.due(99), 99, [])
        assert state(expiring) == (True, False, 99)
        assert STORE.commit(STORE.due(150), 150, [])
        assert state(expiring) == (False, False, END)
        assert expiring.has_ended
        assert STORE.due(200) == []

    def test_those_without_an_end_go_on(self, alice: User) -> None:
        expiring = ending(alice, end=None)
        assert STORE.commit(STORE.due(150), 150, found_in(expiring, 101))
        assert state(expiring) == (True, False, 150)
        assert stored() == {101}

    def test_a_live_one_holds_what_it_held_at_its_end(self, alice: User) -> None:
        expiring = ending(alice, mode="live")
        changes = [
            Change(expiring.pk, "a@x", "insert", 90, "public"),
            Change(expiring.pk, "a@x", "delete", 110),
            Change(expiring.pk, "b@x", "insert", 120, "public"),
        ]
        assert STORE.commit(STORE.due(150), 150, [], changes)
        assert [(row.msgid, row.retracted_at) for row in StoredMatch.objects.all()] == [
            ("a@x", None)
        ]

    def test_mail_that_was_set_aside_is_tried_again_after_its_end(
        self, alice: User, set_asides: Planted
    ) -> None:
        set_asides.expect()
        expiring = ending(alice)
        STORE.postpone(STORE.due(150)[0], 80, KeyError())
        assert STORE.commit(STORE.due(150), 150, [])
        assert state(expiring) == (False, False, END)
        assert STORE.due(200) == []
        set_aside.try_now()
        [due] = STORE.due(200)
        assert (due.since, due.until) == (50, 80)
        assert STORE.commit([due], 60, found_in(expiring, 60))
        [rest] = STORE.due(200)
        assert (rest.since, rest.until) == (60, 80), "a part was run, and is no fault any more"
        assert STORE.commit([rest], 80, found_in(expiring, 70))
        assert (stored(), STORE.due(200)) == ({60, 70}, [])
        assert state(expiring) == (False, False, END)

    def test_what_an_older_text_has_left_after_its_end_waits_for_a_later_one(
        self, alice: User
    ) -> None:
        ended = ending(alice, active=False, since=END)
        ended.pending_windows.create(tql="t", since=END, until=150)
        assert STORE.due(200) == []
        Filter.objects.update(active=True, end=None)
        assert [due.until for due in STORE.due(200)] == [150]


class TestSharedWindow:
    def test_what_matches_after_its_end_is_not_kept_and_it_stops(self, alice: User) -> None:
        expiring, other = (
            ending(alice, enrolled=True),
            ending(alice, name="g", enrolled=True, end=300),
        )
        SharedWindow.objects.update_or_create(pk=1, defaults={"since": 90})
        due = STORE.enrolled([expiring.pk, other.pk])
        matches = found_in(expiring, 100, 101) + found_in(other, 102)
        assert STORE.commit_shared(90, 150, due, matches)
        assert stored() == {100, 102}
        assert state(expiring) == (False, False, END)
        assert [due.filter_id for due in STORE.enrolled([expiring.pk, other.pk])] == [other.pk]


class TestChanging:
    @pytest.fixture(autouse=True)
    def ended(self, engine: None, mail: Tables, alice: User) -> Filter:
        at = present()
        expiring = lifecycle.install(alice, "about plan", name="f", end=at)
        rounds.run_round()
        expiring.refresh_from_db()
        assert expiring.has_ended
        assert expiring.matches.count() == 3
        return expiring

    def arrive(self, tables: Tables) -> None:
        append_messages(tables, DjangoClock(), [Message("late@x", subject="a late plan")])

    def test_a_later_end_lets_it_go_on_from_its_old_one(self, mail: Tables, ended: Filter) -> None:
        self.arrive(mail)
        rounds.run_round()
        assert ended.matches.count() == 3
        lifecycle.change(ended, ended.text, end=wall_clock() + DAY)
        rounds.run_round()
        assert ended.matches.count() == 4

    def test_no_end_lets_it_go_on_from_its_old_one(self, mail: Tables, ended: Filter) -> None:
        lifecycle.change(ended, ended.text, end=None)
        self.arrive(mail)
        rounds.run_round()
        assert ended.matches.count() == 4

    def test_another_change_leaves_it_ended(self, ended: Filter) -> None:
        lifecycle.change(ended, ended.text, timeliness="hourly")
        assert ended.has_ended

    def test_a_paused_one_is_not_set_going_by_another_end(self, alice: User) -> None:
        paused = lifecycle.install(alice, "about x", name="g", end=wall_clock() + DAY)
        lifecycle.pause(paused)
        lifecycle.change(paused, paused.text, end=None)
        assert not paused.active

    def test_the_list_says_that_it_has_ended(self, alice: User, as_user: Sign) -> None:
        page = as_user(alice).get(reverse("filters")).content.decode()
        assert '<span class="chip">ended</span>' in page
        assert "Resume" not in page and "paused</span>" not in page


class TestTheForm:
    FIELDS = {
        "text": "about plan",
        "name": "f",
        "mail": "existing",
        "timeliness": "at once",
        "visibility": "private",
    }

    def test_it_takes_the_last_day_in_the_time_zone_of_the_owner(
        self, tables: Tables, bob: User, as_user: Sign
    ) -> None:
        page = as_user(bob).post(reverse("new-filter"), self.FIELDS | {"until": "2100-01-31"})
        assert page.status_code == 302
        end = to_instant(datetime(2100, 2, 1, tzinfo=ZoneInfo("Europe/Berlin"))) - 1
        assert Filter.objects.get().end == end
        page = as_user(bob).get(reverse("edit-filter", args=["f"]))
        assert 'value="2100-01-31"' in page.content.decode()
        assert "until 31 Jan 2100" in as_user(bob).get(reverse("filters")).content.decode()

    def test_empty_is_no_end(self, tables: Tables, alice: User, as_user: Sign) -> None:
        as_user(alice).post(reverse("new-filter"), self.FIELDS | {"until": "2100-01-31"})
        as_user(alice).post(reverse("edit-filter", args=["f"]), self.FIELDS | {"until": ""})
        assert Filter.objects.get().end is None

    def test_the_day_it_has_stays_also_when_it_is_over(
        self, tables: Tables, alice: User, as_user: Sign
    ) -> None:
        made = lifecycle.install(alice, "about plan", name="f", end=END)
        same = self.FIELDS | {"until": "1970-01-01"}
        assert as_user(alice).post(reverse("edit-filter", args=["f"]), same).status_code == 302
        made.refresh_from_db()
        assert made.end == END

    @pytest.mark.parametrize(
        ("until", "sentence"),
        [
            ("soon", "Write the day as 2027-01-31, or leave it empty."),
            ("9999-12-31", "Choose a day before 9001, or none."),
            (
                f"{datetime.now(UTC).date() - timedelta(days=1)}",
                "That day has passed; choose a later one, or none.",
            ),
        ],
        ids=["no day", "too late", "over"],
    )
    def test_it_refuses_what_can_be_no_last_day(
        self, tables: Tables, alice: User, as_user: Sign, until: str, sentence: str
    ) -> None:
        page = as_user(alice).post(reverse("new-filter"), self.FIELDS | {"until": until})
        assert page.status_code == 400
        assert sentence in page.content.decode()
        assert f'value="{until}"' in page.content.decode()
        assert not Filter.objects.exists()

    def test_today_is_not_over(self, tables: Tables, alice: User, as_user: Sign) -> None:
        today = f"{timezone.localdate()}"
        page = as_user(alice).post(reverse("new-filter"), self.FIELDS | {"until": today})
        assert page.status_code == 302
        end = Filter.objects.get().end
        assert end is not None and end >= wall_clock()


def test_the_last_instant_of_a_day_is_right_before_the_next_also_when_clocks_change() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    for day in (date(2026, 3, 29), date(2026, 10, 25)):
        next_day = datetime.combine(day + timedelta(days=1), datetime.min.time(), berlin)
        assert last_instant(day, berlin) + 1 == to_instant(next_day)
