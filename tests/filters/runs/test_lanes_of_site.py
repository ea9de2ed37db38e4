"""The lanes of the workers on the database: what each runs, and that they do not wait."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.inbox.lists import listing
from filters.inbox.models import Match
from filters.people.models import User
from filters.reading.annotations.outbox import annotate
from filters.runs import canary, rounds, tasks
from filters.runs.models import Heartbeat, SharedWindow
from filters.runs.store.filter_store import DjangoClock, DjangoFilterStore
from filters.runs.store.shared_window import stored_window
from filters.site.settings.budgets import read_budgets
from filters.site.work.parts import addresses, services, spark_restart
from tapestry.core.clock import HOUR, SECOND, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.files.file_lock import file_lock
from tapestry.core.message import PUBLIC, Message
from tapestry.embedded.local_rows import Limits, LocalRows
from tapestry.plan.engine import EngineStuckError, TooSlowError
from tapestry.run.unproven import Turns
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.lists.live_filters import unfold

pytestmark = pytest.mark.usefixtures("engine")


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canary, "_looked", {})


def listed(user: User) -> list[str]:
    unfold()
    return [card.msgid for card in listing.cards(user)]


def test_a_new_filter_goes_through_the_lanes_to_the_shared_window(
    mail: Tables, carol: User
) -> None:
    made = lifecycle.install(carol, "replies by Smith", name="smith")
    rounds.run_own_lane()  # there is no shared window yet
    rounds.run_shared_lane()
    assert listed(carol) == []
    assert rounds.run_unproven_lane(Turns())
    assert listed(carol) == ["reply@example.org"]
    made.refresh_from_db()
    assert made.proven and not made.enrolled
    append_messages(mail, DjangoClock(), [Message("new@example.org")])
    assert rounds.run_shared_lane()
    rounds.run_own_lane()
    made.refresh_from_db()
    assert made.enrolled
    assert not rounds.run_unproven_lane(Turns())
    late = Message("late@x", sender_name="Bill Smith", inreplyto="plan@example.org")
    append_messages(mail, DjangoClock(), [late])
    rounds.run_shared_lane()
    assert sorted(listed(carol)) == ["late@x", "reply@example.org"]


def test_the_shared_window_rests_while_nothing_is_new(
    mail: Tables, carol: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = DjangoFilterStore()
    rounds.run_shared_lane()
    append_messages(mail, DjangoClock(), [Message("first@x")])
    assert rounds.run_shared_lane()
    seen = store.shared_since()
    assert seen is not None
    rounds.run_shared_lane()
    assert store.shared_since() == seen
    annotate(carol, "first@x", PUBLIC, "tag", value="urgent")
    assert rounds.run_shared_lane()
    seen = store.shared_since()
    assert seen is not None
    rests_until = stored_window().ran_at + round(rounds.QUIET_SECONDS * SECOND)
    monkeypatch.setattr(rounds, "wall_clock", lambda: rests_until)
    rounds.run_shared_lane()
    assert store.shared_since() > seen


def test_the_shared_window_runs_though_the_clock_of_the_tables_is_ahead_of_the_wall(
    mail: Tables, carol: User
) -> None:
    rounds.run_shared_lane()
    SharedWindow.objects.update(ran_at=wall_clock() - HOUR)  # the wall clock was set back since
    Heartbeat.objects.update(ended_at=0)
    rounds.run_shared_lane()
    assert Heartbeat.objects.get(pk=Heartbeat.SHARED).ended_at > 0


def test_another_text_is_unproven_again(mail: Tables, carol: User) -> None:
    made = lifecycle.install(carol, "replies by Smith", name="smith")
    Filter.objects.update(proven=True)
    lifecycle.change(made, "replies by Jones")
    assert not made.proven


def test_another_text_is_run_at_once_though_nothing_else_is_new(mail: Tables, carol: User) -> None:
    made = lifecycle.install(carol, "replies by Jones", name="jones")
    rounds.run_shared_lane()
    assert rounds.run_unproven_lane(Turns())
    lifecycle.change(made, "replies by Smith", existing=True)
    assert not rounds.run_shared_lane()
    while rounds.run_unproven_lane(Turns()):
        pass
    assert listed(carol) == ["reply@example.org"]


@pytest.mark.parametrize("enrolled", [False, True])
def test_what_became_stale_is_made_anew_though_nothing_is_run(
    mail: Tables, carol: User, enrolled: bool
) -> None:
    lifecycle.install(carol, "replies by Smith", name="smith")
    rounds.run_shared_lane()
    assert rounds.run_unproven_lane(Turns())
    Filter.objects.update(active=enrolled, enrolled=enrolled)
    Match.objects.update(card=None, refreshed_at=None)
    rounds.run_shared_lane()
    rounds.run_own_lane()
    assert listed(carol) == ["reply@example.org"]


def test_the_unproven_lane_goes_on_while_the_others_are_held(mail: Tables, carol: User) -> None:
    rounds.run_shared_lane()
    lifecycle.install(carol, "replies by Smith", name="smith")
    with rounds.lane(rounds.SHARED), rounds.lane(rounds.OWN), rounds.lane(rounds.UNPROVEN[0]):
        tasks.tick()
        tasks.own_windows()
        tasks.unproven_windows()
        assert not rounds.is_running(rounds.UNPROVEN[1])
    assert listed(carol) == ["reply@example.org"]


@pytest.mark.django_db
def test_all_lanes_are_held_at_once() -> None:
    with rounds.all_lanes():
        assert all(map(rounds.is_running, (rounds.SHARED, rounds.OWN, *rounds.UNPROVEN)))
    assert not rounds.is_running(rounds.SHARED)


def test_a_spark_that_runs_nothing_is_noticed_though_nothing_is_due(
    mail: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stuck:
        def limit(self, seconds: float) -> Any:
            raise TooSlowError("It takes more than 15 seconds to run.")

    rounds.run_shared_lane()
    monkeypatch.setattr(services, "engine_on", lambda snapshot: Stuck())
    with pytest.raises(EngineStuckError, match="runs nothing"):
        rounds.run_own_lane()
    assert Heartbeat.objects.get(pk=Heartbeat.OWN).error == EngineStuckError().message
    rounds.run_shared_lane()  # it does not need Spark for nothing


def test_a_spark_that_is_not_needed_yet_is_started_ahead_only_for_large_tables(
    mail: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_REMOTE")
    run = services.data() / "run"
    asked: list[str] = []
    with file_lock(run / addresses.LOCK):
        for sent in (5_000, 1):
            assert not spark_restart.wanted(run, addresses.PROVEN).exists()
            monkeypatch.setattr(canary, "_looked", {})
            monkeypatch.setattr(canary, "LocalRows", partial(LocalRows, limits=Limits(sent=sent)))
            canary.check_spark(addresses.PROVEN, lambda _: asked.append("it"), mail)
    assert spark_restart.wanted(run, addresses.PROVEN).exists() and asked == []


def test_a_person_may_have_so_many_filters_and_no_more(
    mail: Tables, alice: User, carol: User, settings: Any
) -> None:
    settings.BUDGETS = read_budgets("filters=2")
    for name in ("one", "two"):
        lifecycle.install(carol, "about plan", name=name)
    with pytest.raises(TapestryError, match="You have 2 filters; you may have 2"):
        lifecycle.install(carol, "about plan", name="three")
    lifecycle.install(alice, "about plan", name="one")
