"""A statement that needs Spark has it started, by an `up` that runs on the data directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from filters.site.work.parts import addresses, services, spark_restart
from filters.site.work.parts.addresses import PROVEN, UNPROVEN
from tapestry.core.clock import wall_clock
from tapestry.core.files.file_lock import file_lock
from tapestry.core.surroundings import NobodysFaultError
from tapestry.plan.engine import require_running
from tapestry.query.context import Context
from tapestry.run.ask import Question, find
from tapestry.tables.delta.log import Tables, snapshot


def test_only_what_needs_a_spark_has_it_started_and_its_failure_is_nobodys(
    mail: Tables, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_REMOTE")
    monkeypatch.setattr(services, "START", 0.0)
    run = data / "run"
    wanted = [spark_restart.wanted(run, name) for name in (PROVEN, UNPROVEN)]
    question = Question("about plan", Context(), ("public",), wall_clock())
    with file_lock(run / addresses.LOCK):
        assert find(services.unproven_engine_on, mail, question)
        assert [path.exists() for path in wanted] == [False, False]
        with pytest.raises(NobodysFaultError, match="Spark has not started"):
            require_running(services.unproven_engine_on(snapshot(mail)))
        assert [path.exists() for path in wanted] == [False, True]


def test_the_second_spark_is_never_the_first_of_an_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in addresses.REMOTES.values():
        monkeypatch.delenv(variable, raising=False)
    with file_lock(tmp_path / addresses.LOCK):
        (tmp_path / f"{PROVEN}.remote").write_text("sc://localhost:1")
        assert not addresses.is_dormant(tmp_path, PROVEN)
        assert addresses.is_dormant(tmp_path, UNPROVEN)
        monkeypatch.setenv("SPARK_REMOTE", "sc://elsewhere:1")
        assert addresses.spark_remote(tmp_path, UNPROVEN) == "sc://elsewhere:1"
    assert not addresses.is_dormant(tmp_path, PROVEN), "no up runs"
