"""Who is to blame where statements take too long."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from tapestry.core.errors import TapestryError
from tapestry.core.files.damage import DamagedFileError
from tapestry.core.surroundings import NobodysFaultError
from tapestry.plan.engine import EngineStuckError, TooSlowError, require_running
from tapestry.run.limits import suspects
from tapestry.run.limits.suspects import require_blame


class Stuck:
    """An engine that takes statements and runs none."""

    def limit(self, seconds):
        return nullcontext()

    def fetch(self, statement):
        raise TooSlowError("It takes more than 45 seconds to run.")


class Well(Stuck):
    """An engine that runs the statement of a check, and keeps it."""

    def fetch(self, statement):
        self.statement = statement
        return []


@pytest.fixture(autouse=True)
def nobody_is_suspected(monkeypatch):
    monkeypatch.setattr(suspects, "_suspects", set())


def test_filters_are_to_blame_where_the_engine_runs_others():
    require_blame(Well(), {1})


def test_nobody_is_to_blame_where_it_runs_nothing():
    with pytest.raises(EngineStuckError, match="Spark answers, but it runs nothing"):
        require_blame(Stuck(), {1, 2})


def test_the_same_filters_are_to_blame_where_the_next_one_is_stuck_over_them():
    with pytest.raises(EngineStuckError):
        require_blame(Stuck(), {1, 2})
    require_blame(Stuck(), {1})
    with pytest.raises(EngineStuckError):  # once
        require_blame(Stuck(), {1})


def test_others_are_not_to_blame_with_them():
    with pytest.raises(EngineStuckError):
        require_blame(Stuck(), {1})
    with pytest.raises(EngineStuckError):
        require_blame(Stuck(), {1, 2})


def test_who_ran_into_a_stuck_engine_and_failed_on_one_that_runs_starts_anew():
    with pytest.raises(EngineStuckError):
        require_blame(Stuck(), {1})
    require_blame(Well(), {1})
    with pytest.raises(EngineStuckError):
        require_blame(Stuck(), {1})


def test_a_check_has_a_row_or_the_plan_alone_would_answer_it():
    engine = Well()
    require_running(engine)
    assert "1 = 0" not in engine.statement.select.sql()


def test_a_damaged_file_stays_what_it_is_and_other_errors_are_nobodys():
    damage = DamagedFileError("a/b", "it is empty")
    assert suspects.nobodys(damage) is damage
    assert isinstance(suspects.nobodys(TapestryError("It is away.")), NobodysFaultError)
