"""The wall clock is set back and forward, also amid an append or a run: all is found once."""

from __future__ import annotations

import json
import random
import sqlite3
from collections import Counter
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.faults.stored_world import BATCH, ended, expected, start
from tests.support.processes.stepped_clock import SteppedClock

pytestmark = pytest.mark.sqlite


def all_is_found_once(directory: Path, batches: int, seed: int) -> None:
    data = directory / "site"
    data.mkdir(mode=0o700)
    clock = SteppedClock(directory, random.Random(seed))
    end = batches * BATCH
    with clock.stepping(0.02):
        printed = ended(start(data, "look", end, **clock.environment)).splitlines()
    found = json.loads(printed[-1])
    assert found["messages"] == sorted(f"m{n}@x" for n in range(end))
    assert sorted(found["matches"]) == expected(end)
    assert max(Counter(found["votes"]).values()) == 1
    with closing(sqlite3.connect(data / "db.sqlite3")) as database:
        query = "SELECT stored_at FROM inbox_match ORDER BY id"
        stored = [at for (at,) in database.execute(query)]
    assert any(later < earlier for earlier, later in pairwise(stored)), "the clock went back"


def test_all_is_found_once_while_the_clock_steps(tmp_path: Path) -> None:
    all_is_found_once(tmp_path, 12, seed=1)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 12))
def test_all_is_found_once_while_the_clock_steps_for_long(tmp_path: Path, seed: int) -> None:
    all_is_found_once(tmp_path, 60, seed)
