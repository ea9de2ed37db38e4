"""Power fails at any moment: what was not synced is gone, and nothing is lost or comes twice."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.faults.power_loss import Disk, Record, read_records, recording
from tests.support.faults.stored_world import BATCH, ended, expected, run, start
from tests.support.processes.preloaded import build

pytestmark = pytest.mark.sqlite

LOSSES = int(os.environ.get("TEST_LOSSES") or 200)
"""Losses of the long campaign."""

CHAIN = 10
"""Losses of one site before the next begins anew."""


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("recorded_files", tmp_path_factory.mktemp("recorder"))


@dataclass
class Work:
    """What a site printed while it went on, and the disk that it did so on."""

    before: dict[str, list[Any]]
    after: dict[str, list[Any]]
    disk: Disk
    records: list[Record]

    def lose_power(self, chance: random.Random, to: Path, *, at_end: bool) -> set[int]:
        """Cut the power at a random moment; return up to which messages all was done by then.

        Or cut it at the end, and keep nothing but what is certain.
        """
        self.disk.do(self.records[: None if at_end else chance.randrange(len(self.records))])
        self.disk.lose_power(chance, to, 0.0 if at_end else None)
        return {int(line) for line in self.disk.printed.split(b"\n") if line.isdigit()}


def go_on(data: Path, end: int, recorder: Path) -> Work:
    """Have a site look at what it has, and go on to a number."""
    log = data.with_name("records")
    log.unlink(missing_ok=True)
    disk = Disk(data)
    printed = ended(start(data, "look", end, **recording(recorder, data, log))).splitlines()
    return Work(json.loads(printed[0]), json.loads(printed[-1]), disk, read_records(log))


def mend(data: Path) -> None:
    """Check all that is stored, and have it mended: nothing of it may be lost."""
    report = json.loads(ended(run(data, "check-data", "--repair", "--json")))
    assert not report["damages"]
    assert not [line for line in report["repaired"] if re.search(r"\blost\b", line)], report


def power_fails(directory: Path, recorder: Path, losses: int, seed: int) -> None:
    """Let a site go on, and cut its power while it does, so often; it goes on from what is left."""
    chance = random.Random(seed)
    data = directory / "site"
    data.mkdir(mode=0o700)
    end, done = 0, {0}
    for loss in range(losses + 1):
        end += chance.randint(1, 3) * BATCH
        work = go_on(data, end, recorder)
        left, found = work.before, work.after
        assert {*names(range(max(done)))} <= {*left["messages"]}, (seed, loss)
        assert {*names(number - BATCH for number in done if number)} <= {*left["votes"]}, (
            seed,
            loss,
        )
        assert found["messages"] == sorted(names(range(end))), (seed, loss)
        assert sorted(found["matches"]) == expected(end), (seed, loss)
        assert max(Counter(found["votes"]).values()) == 1, (seed, loss)
        if loss < losses:
            done |= work.lose_power(chance, data, at_end=not loss)
            shutil.rmtree(directory / "left", ignore_errors=True)
            shutil.copytree(data, directory / "left")
            if chance.random() < 0.3:
                mend(data)
    mend(data)


def names(numbers: Iterable[int]) -> list[str]:
    return [f"m{n}@x" for n in numbers]


def test_nothing_is_lost_or_comes_twice_when_power_fails(tmp_path: Path, recorder: Path) -> None:
    power_fails(tmp_path, recorder, 1, seed=1)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 2 + -(-LOSSES // CHAIN)))
def test_nothing_is_lost_or_comes_twice_when_power_fails_again_and_again(
    tmp_path: Path, recorder: Path, seed: int
) -> None:
    power_fails(tmp_path, recorder, CHAIN, seed)
