"""Budgets of seconds: filters over them run once an hour, lose nothing, and nobody else waits."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.inbox.complete import completeness
from filters.inbox.models import Match
from filters.people.budgets import budget
from filters.people.models import User
from filters.runs import rounds
from filters.runs.store import spending
from filters.runs.store.filter_store import DjangoClock, DjangoFilterStore
from filters.site.settings.budgets import read_budgets
from tapestry.core.clock import HOUR, wall_clock
from tapestry.core.message import Message
from tapestry.run.unproven import Turns
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.set_clock import SetClock

pytestmark = pytest.mark.usefixtures("engine")


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> SetClock:
    return SetClock(wall_clock(), monkeypatch)


def arrive(mail: Tables, number: int) -> None:
    append_messages(mail, DjangoClock(), [Message(f"{number}@x", subject="lunch")])


def run_all() -> None:
    rounds.run_shared_lane()
    turns = Turns()
    while rounds.run_unproven_lane(turns):
        pass
    rounds.run_own_lane()


def found_by(user: User) -> list[str]:
    return sorted(Match.objects.filter(filter__owner=user).values_list("msgid", flat=True))


def live(user: User) -> Filter:
    """Install a filter that never runs together with others."""
    return lifecycle.install(user, "about lunch", name="lunch", mode=Filter.Mode.LIVE)


def test_who_is_over_the_budget_is_run_once_an_hour_and_again_as_usual_later(
    mail: Tables, carol: User, alice: User, settings: Any, wall: SetClock
) -> None:
    settings.BUDGETS = read_budgets("user:carol:seconds=0")
    live(carol), live(alice)
    arrive(mail, 1)
    run_all()
    assert found_by(carol) == found_by(alice) == ["1@x"]
    arrive(mail, 2)
    run_all()
    assert found_by(carol) == ["1@x"]
    assert found_by(alice) == ["1@x", "2@x"]
    wall.now += HOUR
    run_all()
    assert found_by(carol) == ["1@x", "2@x"]
    settings.BUDGETS = read_budgets("")
    arrive(mail, 3)
    run_all()
    assert found_by(carol) == found_by(alice) == ["1@x", "2@x", "3@x"]


def test_the_page_says_that_a_filter_runs_once_an_hour(
    mail: Tables, carol: User, settings: Any, wall: SetClock
) -> None:
    settings.BUDGETS = read_budgets("seconds=5")
    made = live(carol)
    run_all()
    made.refresh_from_db()
    assert completeness(made).waits_for == ()
    wall.now = (wall.now // HOUR + 1) * HOUR - 1
    User.objects.update(evaluated_hour=wall.now // HOUR, evaluated_seconds=5.0)
    Filter.objects.update(since=wall.now // HOUR * HOUR)
    made = Filter.objects.get()
    assert "used the 5 seconds of this hour" in completeness(made).waits_for[0]
    wall.now += 1
    assert "It runs once an hour" not in completeness(made).waits_for[0]


def test_a_filter_that_is_to_join_the_shared_window_does_so_though_the_budget_is_used(
    mail: Tables, carol: User, settings: Any, wall: SetClock
) -> None:
    settings.BUDGETS = read_budgets("seconds=0")
    lifecycle.install(carol, "about lunch", name="lunch")
    run_all()
    arrive(mail, 1)
    run_all()
    assert Filter.objects.get().enrolled
    arrive(mail, 2)
    run_all()
    assert found_by(carol) == ["1@x", "2@x"]


def test_nobody_is_charged_for_the_filters_of_others(
    mail: Tables, carol: User, alice: User, wall: SetClock
) -> None:
    live(carol), live(alice)
    rounds.run_shared_lane()
    due = {d.owner: d for d in DjangoFilterStore().due(wall_clock())}
    spending.charge([due["carol"]], 10.0)
    spending.charge([due["alice"]], 1.0)
    spending.charge(list(due.values()), 22.0)  # the machine was busy
    seconds = dict(User.objects.values_list("username", "evaluated_seconds"))
    assert seconds["carol"] == 20.0 and seconds["alice"] == 2.0
    spending.charge(list(due.values()), 1.1)
    assert seconds_of(alice) == pytest.approx(2.1)
    wall.now += HOUR
    spending.charge([due["alice"]], 0.5)
    assert seconds_of(alice) == 0.5


def seconds_of(user: User) -> float:
    user.refresh_from_db()
    return user.evaluated_seconds


def test_the_largest_budget_of_groups_counts_and_ones_own_before_it(
    carol: User, settings: Any
) -> None:
    settings.BUDGETS = read_budgets("seconds=9 group:parc:seconds=60 group:staff:seconds=30")
    assert budget(carol, "seconds") == 9
    carol.groups.add(*(Group.objects.get_or_create(name=name)[0] for name in ("parc", "staff")))
    assert budget(carol, "seconds") == 60 and budget(carol, "filters") == 5_000
    settings.BUDGETS = read_budgets("group:parc:seconds=60 user:carol:seconds=1")
    assert budget(carol, "seconds") == 1


def test_the_others_of_a_group_have_what_each_has_though_one_used_all(
    mail: Tables, carol: User, alice: User, settings: Any, wall: SetClock
) -> None:
    """As the bench of fairness counts: after each run, all that others' filters should have."""
    settings.BUDGETS = read_budgets("group:parc:seconds=60")
    parc, _ = Group.objects.get_or_create(name="parc")
    carol.groups.add(parc), alice.groups.add(parc)
    live(carol), live(alice)
    run_all()
    spent = {"evaluated_hour": wall.now // HOUR, "evaluated_seconds": 10_000.0}
    User.objects.filter(pk=carol.pk).update(**spent)
    for number in range(3):
        arrive(mail, number)
        run_all()
        assert len(found_by(alice)) == number + 1
    assert found_by(carol) == []
