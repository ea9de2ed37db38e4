"""Filters that share one window: whatever happens between runs, each match is stored once."""

from __future__ import annotations

import random
import shutil
import time
from typing import Any

import pytest
from django.conf import LazySettings

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.inbox.models import Match
from filters.people.models import User
from filters.people.people import audiences, context
from filters.runs import rounds
from filters.runs.store.filter_store import DjangoClock, DjangoFilterStore, latest_instant
from filters.site.work.parts import services
from tapestry.core.message import Annotation, Message
from tapestry.predicate_index import store
from tapestry.run.ask import Question, ask
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_annotations, append_messages

HOUR = 3_600_000_000

TEXTS = (
    "replied to by carol@example.org",
    "replies to bob@example.org",
    "about plan",
    "two hours old with no reply",
    "with a score above 0",
    "voted for by more than one person",
    "among the top 2 by votes",
    "from bob@example.org or voted for by v1",
)

SEEDS = [
    pytest.param(0, 14, (1,), id="some"),
    pytest.param(1, 14, (3, 1, 2), id="parts"),
    *(pytest.param(seed, 30, (1, 3, 2), marks=pytest.mark.long) for seed in range(30)),
]
"""Seeds, each with a number of steps, and how many parts there are at one time or another."""


@pytest.fixture
def tables(engine: None, data: object, monkeypatch: pytest.MonkeyPatch) -> Tables:
    monkeypatch.setattr(store, "MANY_FILES", 3)
    return services.tables()


@pytest.mark.parametrize(("seed", "steps", "parts"), SEEDS)
def test_whatever_happens_between_runs_each_match_is_stored_once(
    tables: Tables,
    alice: User,
    bob: User,
    settings: LazySettings,
    seed: int,
    steps: int,
    parts: tuple[int, ...],
) -> None:
    chance = random.Random(seed)
    filters = {
        (user, text): lifecycle.install(user, text, name=f"f{number}")
        for number, text in enumerate(TEXTS)
        for user in (alice, bob)
    }
    names: list[str] = []
    for step in range(steps):
        audience = chance.choice(["public", "public", "user:alice", "group:parc"])
        if not names or chance.random() < 0.5:
            names.append(f"m{step}@x")
            message = Message(
                names[-1],
                sender=chance.choice(["bob@example.org", "carol@example.org", None]),
                subject=chance.choice(["a plan", "lunch"]),
                inreplyto=chance.choice([None, *names[-3:], f"m{step + 1}@x"]),
                audience=audience,
            )
            append_messages(tables, DjangoClock(), [message])
        else:
            number = chance.choice([1.0, 1.0, -1.0])
            vote = Annotation(
                f"a{step}", chance.choice(names), f"v{step % 3}", "vote", None, number, audience
            )
            append_annotations(tables, DjangoClock(), [vote])
        changed = chance.choice(list(filters.values()))
        match chance.choice(["", "", "", "rename", "pause", "lose"]):
            case "rename":
                lifecycle.change(changed, changed.text, name=f"g{step}")
            case "pause":
                lifecycle.pause(changed)
            case "lose":
                shutil.rmtree(tables.root / "predicate_index", ignore_errors=True)
        if chance.random() < 0.5:
            for paused in Filter.objects.filter(active=False):
                lifecycle.resume(paused)
            settings.WINDOW_PARTS = chance.choice(parts) if len(parts) > 1 else parts[0]
            until = rounds.run_round(latest_instant() + chance.choice([0, HOUR])).until
            for (user, text), installed in filters.items():
                asked = Question(text, context(user), audiences(user), until, so_far=True)
                everything = ask(services.engine_on, tables, asked)
                stored = Match.objects.filter(filter=installed).values_list("msgid", flat=True)
                assert sorted(stored) == sorted(card.msgid for card in everything.cards), text
    assert Filter.objects.filter(enrolled=True).count() > len(filters) / 2


def test_what_is_in_a_group_left_during_a_first_run_withholds_nothing(
    tables: Tables, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def append(msgid: str, **fields: str) -> None:
        append_messages(tables, DjangoClock(), [Message(msgid, subject="plan", **fields)])

    append("seed@x", audience="group:parc")
    rounds.run_round()
    lifecycle.install(alice, "two hours old and about plan with no reply", name="unanswered")
    commit = DjangoFilterStore.commit

    def leave(*args: Any) -> bool:
        User.objects.get(pk=alice.pk).groups.clear()
        return commit(*args)

    with monkeypatch.context() as during:
        during.setattr(DjangoFilterStore, "commit", leave)
        rounds.run_round()
    append("q@x")
    append("r@x", audience="group:parc", inreplyto="q@x")
    for _ in range(4):
        rounds.run_round(latest_instant() + HOUR)
    assert list(Match.objects.values_list("msgid", flat=True)) == ["q@x"]


def test_a_filter_about_to_be_enrolled_keeps_its_entries_when_another_run_compacts(
    tables: Tables, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MANY_FILES", 1)
    lifecycle.install(alice, "about plan", name="f")
    rounds.run_round()
    lifecycle.install(bob, "about plan", name="f")
    enroll = DjangoFilterStore.enroll

    def compacted_before(self: DjangoFilterStore, *given: Any) -> None:
        assert store.PredicateIndex(tables.root).compact(self.revisions)
        enroll(self, *given)

    with monkeypatch.context() as patched:
        patched.setattr(DjangoFilterStore, "enroll", compacted_before)
        rounds.run_round()
    append_messages(tables, DjangoClock(), [Message("late@x", subject="A plan")])
    rounds.run_round()
    assert Match.objects.filter(filter__enrolled=True).count() == 2


def test_what_is_found_is_listed_though_the_clock_was_set_back(
    tables: Tables, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    lifecycle.install(alice, "about plan", name="f")
    append_messages(tables, DjangoClock(), [Message("early@x", subject="A plan")])
    rounds.run_round()
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() - 1000 * HOUR)
    append_messages(tables, DjangoClock(), [Message("late@x", subject="A plan")])
    rounds.run_round()
    assert {match.msgid for match in Match.objects.visible_to(alice)} == {"early@x", "late@x"}
