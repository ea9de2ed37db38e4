"""Steps of upkeep: each by itself, whatever befalls another."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from django.db import OperationalError

from filters.inbox.models import Match
from filters.runs import rounds, tasks
from filters.runs.models import SetAside
from filters.upkeep.forgetting import forget, forget_old
from tapestry.core.clock import DAY, wall_clock
from tapestry.tables.delta.log import Tables
from tapestry.tables.forget import forget as forgetting_of_rows
from tests.support.faults.set_asides import Planted


def test_upkeep_removes_what_is_old(delivered: Tables, monkeypatch, settings: Any) -> None:
    settings.RETENTION = {"user:alice": 3}
    later = wall_clock() + 4 * DAY
    monkeypatch.setattr("filters.upkeep.retention.wall_clock", lambda: later)
    tasks.compact()
    assert Match.objects.get().msgid == "plan@example.org"


def test_a_step_of_upkeep_that_fails_costs_no_other(
    delivered: Tables, monkeypatch, settings: Any, set_asides: Planted
) -> None:
    errors = set_asides.expect()
    settings.RETENTION = {"user:bob": 3, "user:alice": 3}
    forget_one, done = forget_old, []

    def fail_for_bob(audience: str, present: int) -> None:
        if audience == "user:bob":
            raise OSError("the disk says no")
        forget_one(audience, present)
        done.append(audience)

    monkeypatch.setattr(tasks, "forget_old", fail_for_bob)
    for module, step in (
        (tasks.history, "prune"),
        (tasks.outbox, "prune"),
        (tasks, "prune_annotations"),
    ):
        monkeypatch.setattr(module, step, lambda *_, step=step: done.append(step))
    tasks.compact()
    assert [(kind, key) for kind, key, _ in errors] == [("step", "forget user:bob")]
    assert done == ["user:alice", "prune", "prune", "prune_annotations"]
    assert "the disk says no" in SetAside.objects.get().traceback


def test_a_fault_of_the_surroundings_costs_no_other_step_and_is_nobodys(
    delivered: Tables, monkeypatch, settings: Any
) -> None:
    done = []
    settings.RETENTION = {"user:bob": 3}

    def has_gone(audience: str, present: int) -> None:
        raise OperationalError("the database has gone")

    monkeypatch.setattr(tasks, "forget_old", has_gone)
    monkeypatch.setattr(tasks.history, "prune", lambda present: done.append("prune"))
    with pytest.raises(ExceptionGroup) as failed:
        tasks.compact()
    assert [str(error) for error in failed.value.exceptions] == ["the database has gone"]
    assert done == ["prune"] and not SetAside.objects.exists()


def test_lanes_wait_only_while_the_rows_go(delivered: Tables, monkeypatch) -> None:
    seen: dict[str, set[bool]] = defaultdict(set)

    def watched(name: str) -> None:
        function = getattr(forgetting_of_rows, name)

        def call(*given: Any, **options: Any) -> Any:
            seen[name].add(rounds.is_running(rounds.SHARED))
            return function(*given, **options)

        monkeypatch.setattr(forgetting_of_rows, name, call)

    for name in ("rewrite", "commit_rewritten", "drop_old_files", "extend_index"):
        watched(name)
    forget("user:alice")
    assert seen == {
        "rewrite": {False}, "commit_rewritten": {True},
        "drop_old_files": {False}, "extend_index": {False},
    }  # fmt: skip
