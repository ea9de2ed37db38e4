"""One fault, one filter: whatever raises for one filter, the others' matches are exact.

In each lane, every function that is called for the victim is made to raise for it; afterwards the
victim's matches are exact, too, each once.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from django.db import transaction

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.inbox.models import Match
from filters.people.models import User
from filters.people.people import audiences, context
from filters.runs import canary, rounds
from filters.runs.models import SetAside
from filters.runs.store.filter_store import DjangoClock, DjangoFilterStore, latest_instant
from filters.site.work import set_aside
from filters.site.work.parts import services
from tapestry.core.message import Message
from tapestry.core.ports import DueFilter
from tapestry.query.frontend import read
from tapestry.run.unproven import Turns
from tapestry.run.windows import own as own_windows
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.faults.planted_faults import PlantedError, Victim, calls_for, name_of, planted
from tests.support.faults.planted_lane import MACHINERY
from tests.support.faults.set_asides import Planted
from tests.support.oracle import queries as oracle

WORD = "zyzzyva"
TEXTS = {
    "word": "about {}",
    "answered": "replied to by {}@x.org",
    "missing": "from {}@x.org and not voted for by jones",
    "silent": "from {}@x.org with no reply",
}
STAGES = {
    "tapestry/run/windows/own.py:run_each": "it is what halves",
    "tapestry/run/windows/own.py:refuse": "it is what sets aside",
    "tapestry/run/windows/own.py:refuse_all": "it is what sets aside",
    "tapestry/run/lanes.py:join_shared": "its filters come as one, and are joined each by itself",
    "tapestry/run/lanes.py:_commit_shared": "it is what halves",
    "tapestry/run/windows/enrollment.py:sharing": "it is what halves",
    "tapestry/run/windows/enrollment.py:enroll": "it is what halves",
    "tapestry/run/windows/shared.py:SharedWindow._fan_out": "it halves the candidates' filters",
    "tapestry/run/windows/shared.py:SharedWindow._members": "it is what halves",
    "tapestry/run/windows/group_plans.py:signature_plans": "it is what halves",
    "tapestry/run/windows/own.py:Run.followed_by": "it puts what two runs did into one",
}
"""Functions that take all filters together, and divide them themselves or only join them."""


def shared() -> None:
    """Run the shared window, and what it has left to the other lanes."""
    rounds.run_shared_lane()
    own()
    unproven()


def own() -> None:
    rounds.run_own_lane()


def unproven() -> None:
    rounds.run_unproven_lane(Turns())


LANES: dict[str, Callable[[], None]] = {"shared": shared, "own": own, "unproven": unproven}


@pytest.fixture
def world(engine: None, alice: User, bob: User, carol: User, monkeypatch: pytest.MonkeyPatch):
    """Filters of two people, the same but for a word; alice's is the victim's.  One of carol's."""
    monkeypatch.setattr(canary, "_looked", {})
    monkeypatch.setattr(rounds, "_is_quiet", lambda *_: False)
    tables = services.tables()
    arrive(tables, 0)
    Filter.objects.create(pk=7_000_000, owner=bob, name="first", text="x", active=False)
    for owner, word in ((bob, "lunch"), (alice, WORD)):
        for name, text in TEXTS.items():
            lifecycle.install(owner, text.format(word), name=name)
        lifecycle.install(owner, f"about {word}", name="live", mode=Filter.Mode.LIVE)
    lifecycle.install(carol, "from lunch@x.org", name="other")
    return tables


def arrive(tables: Tables, step: int) -> None:
    """Append a message for each word, a reply, and votes."""
    words = ("lunch", WORD)
    mail = [
        Message(f"{word}{step}@x", sender=f"{word}@x.org", subject=f"{word} {step}")
        for word in words
    ]
    mail += [
        Message(f"r{word}{step}@x", sender=f"{word}@x.org", inreplyto=f"{word}{max(step - 1, 0)}@x")
        for word in words
    ]
    append_messages(tables, DjangoClock(), mail)


def run_all(times: int = 3) -> None:
    for _ in range(times):
        for lane in (shared, own, unproven, own):
            lane()


def wrong(tables: Tables, owners: tuple[str, ...]) -> list[str]:
    """Return the filters of some people whose matches are not exactly those of the oracle."""
    until = latest_instant()
    names = ("messages", "annotations")
    rows = {name: tables.open(name).to_pyarrow_table().to_pylist() for name in names}
    differ = []
    for filter_ in Filter.objects.filter(owner__username__in=owners, active=True):
        query = read(filter_.tql, context(filter_.owner))
        seen = audiences(filter_.owner)
        (expected,) = oracle.delivered(query, rows, seen, [until], filter_.start)
        stored = list(Match.objects.filter(filter=filter_).values_list("msgid", "matched_at"))
        if len(stored) != len(dict(stored)) or dict(stored) != expected:
            differ.append(str(filter_))
    return differ


def found_functions(victim: Victim, lane: Callable[[], None]) -> list[CodeType]:
    return [
        code
        for code in calls_for(victim, lane)
        if not name_of(code).startswith(MACHINERY) and name_of(code) not in STAGES
    ]


def prepare(lane: str, tables: Tables) -> None:
    """Bring the filters into a lane, with new mail for it."""
    if lane == "unproven":
        rounds.run_shared_lane()
        return
    run_all()
    assert not wrong(tables, ("alice", "bob", "carol"))
    if lane == "own":
        DjangoFilterStore().detach(None)
    arrive(tables, 1)
    if lane == "own":
        rounds.run_shared_lane()


def faults(lane: str, tables: Tables, share: int, part: int) -> tuple[int, list[str]]:
    """Plant a fault in each so-manieth function of a lane; return how many, and what went wrong."""
    alice_filters = Filter.objects.filter(owner__username="alice").values_list("pk", flat=True)
    victim = Victim(WORD, list(alice_filters))
    prepare(lane, tables)
    root, copy = Path(tables.root), Path(tables.root).with_name("before")
    shutil.copytree(root, copy)
    bad = []

    def rolled_back(work: Callable[[], list[CodeType]]) -> list[CodeType]:
        point = transaction.savepoint()
        try:
            return work()
        finally:
            transaction.savepoint_rollback(point)
            shutil.rmtree(root)
            shutil.copytree(copy, root)

    functions = rolled_back(lambda: found_functions(victim, LANES[lane]))
    assert len(functions) > 20

    def attempt(code: CodeType) -> list[CodeType]:
        name = name_of(code)
        with planted(victim, code) as fault:
            try:
                LANES[lane]()
            except Exception as error:
                bad.append(f"{lane}, {name}: the lane ended: {error!r}")
                return []
            if not fault.raised:
                return []
            if differ := wrong(tables, ("bob", "carol")):
                bad.append(f"{lane}, {name}: others lack matches at once: {differ}")
            fault.active = False
            arrive(tables, 2)
            fault.active = True
            run_all(1)
            if differ := wrong(tables, ("bob", "carol")):
                bad.append(f"{lane}, {name}: others lack matches: {differ}")
        set_aside.try_now()
        run_all(2)
        if differ := wrong(tables, ("alice", "bob", "carol")):
            errors = list(Filter.objects.exclude(error="").values_list("error", flat=True))
            bad.append(f"{lane}, {name}: after it {differ} lack matches: {errors}")
        return []

    chosen = functions[part::share]
    for code in chosen:
        rolled_back(lambda code=code: attempt(code))
    return len(chosen), bad


@pytest.mark.parametrize("lane", LANES)
def test_what_raises_for_one_filter_costs_no_other(
    world: Tables, lane: str, set_asides: Planted
) -> None:
    errors = set_asides.expect()
    count, bad = faults(lane, world, 240, 7)
    assert count and not bad, "\n".join(bad)
    assert all(isinstance(error, PlantedError) for _, _, error in errors)


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("lane", LANES)
def test_whatever_raises_for_one_filter_costs_no_other(
    world: Tables, lane: str, set_asides: Planted
) -> None:
    errors = set_asides.expect()
    count, bad = faults(lane, world, int(os.environ.get("SHARE", "1")), 0)
    assert count and not bad, "\n".join(bad)
    assert all(isinstance(error, PlantedError) for _, _, error in errors)


def test_mail_with_which_a_filter_fails_is_left_for_later(
    engine: None, alice: User, monkeypatch: pytest.MonkeyPatch, set_asides: Planted
) -> None:
    """What breaks a filter over one message costs it the mail that came with that, and no other."""
    monkeypatch.setattr(canary, "_looked", {})
    monkeypatch.setattr(rounds, "_is_quiet", lambda *_: False)
    errors, tables = set_asides.expect(), services.tables()
    mine = lifecycle.install(alice, "from lunch@x.org", name="mine")

    def explained(deliveries: Iterable[Any], filters: Iterable[DueFilter]) -> list[Any]:
        deliveries = list(deliveries)
        if any(delivery.msgid == "lunch2@x" for delivery in deliveries):
            raise PlantedError
        return real_explained(deliveries, filters)

    real_explained = own_windows.explained
    for step in range(5):
        arrive(tables, step)
    with monkeypatch.context() as patched:
        patched.setattr(own_windows, "explained", explained)
        run_all(1)
        mine.refresh_from_db()
        assert mine.error and not mine.matches.exists()
        set_aside.try_now()
        run_all(2)
        found = set(mine.matches.values_list("msgid", flat=True))
        assert found == {f"{kind}lunch{n}@x" for n in (0, 1, 3, 4) for kind in ("", "r")}
        mine.refresh_from_db()
        assert not mine.error and mine.pending_windows.get().error
    run_all(1)
    assert wrong(tables, ("alice",)) == ["alice.mine"]
    set_aside.try_now()
    run_all(2)
    assert not wrong(tables, ("alice",))
    assert not mine.pending_windows.exists() and not SetAside.objects.exists()
    assert errors
