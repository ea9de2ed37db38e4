"""Budgets of deliveries and of seconds: what is over them comes later, and each message once."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.delivery.models import Address, Delivery, Destination
from filters.delivery.status import status_of
from filters.people.models import User
from filters.runs import rounds
from filters.runs.models import Clock
from filters.runs.store.filter_store import DjangoClock
from filters.site.settings.budgets import read_budgets
from tapestry.core.clock import HOUR, MINUTE, wall_clock
from tapestry.core.message import Message
from tapestry.run.unproven import Turns
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.delivery.recorded_way import MakeDestination, Recorder, Store, change_way
from tests.support.delivery.turn import fresh, turn
from tests.support.servers.smtp import SmtpServer
from tests.support.set_clock import SetClock

numbers = count()


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> SetClock:
    return SetClock((wall_clock() // HOUR + 2) * HOUR + MINUTE, monkeypatch)


def test_what_is_over_the_budget_comes_hourly_and_together(
    jones: Filter, hook: Destination, store: Store, way: Recorder, settings: Any, wall: SetClock
) -> None:
    settings.BUDGETS = read_budgets("deliveries=2")
    for number in range(4):
        wall.now += MINUTE
        store(jones, f"m{number}", **dict.fromkeys(("shown_at", "stored_at"), wall.now))
        turn()
    assert [len(batch.matches) for batch in way.batches] == [1, 1]
    sentence = status_of(fresh(hook)).sentence
    assert sentence.startswith("2 matches wait until ")
    assert sentence.endswith(": it comes hourly, for the deliveries of a day are used up.")
    wall.now += HOUR
    turn()
    assert [len(batch.matches) for batch in way.batches] == [1, 1, 2]
    wall.now += 24 * HOUR
    store(jones, "again", **dict.fromkeys(("shown_at", "stored_at"), wall.now))
    turn()
    assert way.delivered[-1] == ("insert", "again")


@pytest.mark.usefixtures("kept_original")
def test_what_would_be_forwarded_over_the_budget_comes_as_one_digest(
    jones: Filter,
    store: Store,
    smtp: SmtpServer,
    to_alice: MakeDestination,
    settings: Any,
    wall: SetClock,
) -> None:
    settings.BUDGETS = read_budgets("deliveries=0")
    to_alice("forward")
    for msgid in ("<one@x.org>", "two"):
        store(jones, msgid, shown_at=wall.now)
    turn()
    assert smtp.messages == []
    wall.now += HOUR
    turn()
    [message] = smtp.messages
    body = message.get_body(("plain",))
    assert body is not None and "2 messages, after the deliveries of a day" in body.get_content()
    assert Delivery.objects.get().matches == 2


STEPS = st.lists(
    st.one_of(st.just("mail"), st.just("run"), st.sampled_from([1, 20, 60])), max_size=12
)


@pytest.mark.usefixtures("engine")
@given(steps=STEPS, seconds=st.sampled_from([0, 600]), deliveries=st.integers(0, 4))
@example(steps=["mail", "run", 1, "mail", "run", 1, "mail", "run"], seconds=0, deliveries=1)
@hypothesis_settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_each_destination_has_the_same_in_the_end_whatever_the_budgets(
    tables: Tables,
    db: None,
    way: Recorder,
    settings: Any,
    wall: SetClock,
    monkeypatch: pytest.MonkeyPatch,
    steps: list[Any],
    seconds: int,
    deliveries: int,
) -> None:
    digests = Recorder()
    change_way(monkeypatch, "digest", send=digests.send)
    settings.BUDGETS = read_budgets(f"seconds={seconds} deliveries={deliveries}")
    settings.LANE_LIMITS = replace(settings.LANE_LIMITS, light=-1.0)  # it runs by itself for good
    word, came = f"word{next(numbers)}", list[str]()
    owner = User.objects.create_user(word)
    address = Address.objects.create(owner=owner, email=f"{word}@x.org", confirmed_at=1)
    Destination.objects.create(owner=owner, kind="webhook", name="hook")
    Destination.objects.create(owner=owner, kind="digest", name="digest", address=address)
    rounds.run_shared_lane()
    lifecycle.install(owner, f"about {word}", name="f")
    for step in [*steps, "run", *(60, "run") * 3]:
        if step == "mail":
            came.append(f"{word}.{len(came)}")
            append_messages(tables, DjangoClock(), [Message(came[-1], subject=word)])
        elif step == "run":
            rounds.run_shared_lane()
            rounds.run_unproven_lane(Turns())
            turn()
        else:
            wall.now += step * MINUTE
            Clock.objects.update(last=wall.now)
    Filter.objects.update(active=False)
    for recorder in (way, digests):
        assert sorted(recorder.delivered) == sorted(("insert", msgid) for msgid in came)
        recorder.batches.clear()
