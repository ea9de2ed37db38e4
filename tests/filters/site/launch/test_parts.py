"""Parts are looked after: real processes, which only sleep."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from filters.site.launch import parts as parts_module
from filters.site.launch.parts import Part, Parts
from filters.site.work.parts import endings, spark_restart
from tapestry.core.errors import TapestryError
from tapestry.core.files.file_lock import file_lock
from tapestry.core.processes.child_process import Child, spawn

SLEEP = "import time; time.sleep(600)"
FAIL = "import sys; sys.exit('It cannot be.')"


class Started:
    """Starts a part of a name, and counts how often; ``program`` is what it runs."""

    def __init__(self, directory: Path, name: str) -> None:
        self.directory, self.name = directory, name
        self.program = SLEEP
        self.count = 0

    def __call__(self) -> Child:
        self.count += 1
        argv = [sys.executable, "-c", self.program]
        return spawn(self.name, argv, self.directory / f"{self.name}.log")


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[[str], tuple[Part, Started]]]:
    """Make a part; those that still run at the end are stopped."""
    made = Parts()

    def part(name: str) -> tuple[Part, Started]:
        started = Started(tmp_path, name)
        log, again = tmp_path / f"{name}.log", tmp_path / f"{name}.again"
        made.others.append(Part(name, log, started, started(), asked=again))
        return made.others[-1], started

    yield part
    made.stop()


Make = Callable[[str], tuple[Part, Started]]


UNREACHABLE = Path("x" * 300)
"""A path of which even to ask is an error, as on a file system whose server is gone."""


def kill(part: Part) -> None:
    assert part.child is not None
    os.kill(part.child.process.pid, signal.SIGKILL)
    part.child.process.wait()


def wait(part: Part) -> None:
    assert part.child is not None
    part.child.process.wait()


def test_one_that_is_killed_is_started_again_and_the_others_go_on(make: Make) -> None:
    (one, _), (other, _) = make("one"), make("other")
    parts, before = Parts(others=[one, other]), other.child
    kill(one)
    parts.tend()
    assert one.alive and other.alive and other.child is before
    assert parts.endings() == []


def test_one_that_dies_again_and_again_is_told_and_ends_no_other(
    make: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(parts_module, "time", SimpleNamespace(monotonic=lambda: 1000.0))
    (one, started), (other, _) = make("one"), make("other")
    parts = Parts(others=[one, other])
    started.program = FAIL
    kill(one)
    for _ in range(3):
        parts.tend()
        wait(one)
    assert started.count == 2, "the second pause has not passed"
    assert other.alive
    (told,) = parts.endings()
    assert (told.name, told.log, told.times, told.is_down) == ("one", "one.log", 2, True)
    assert "ended by signal 9" in caplog.text and "is: It cannot be." in caplog.text


def test_one_that_cannot_be_started_is_told_and_tried_again(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    one, started = make("one")

    def refuse() -> Child:
        raise TapestryError("Spark needs Java 17 or newer.")

    one.start = refuse
    parts = Parts(behind=[one])
    kill(one)
    parts.tend()
    assert "one cannot be started: Spark needs Java 17 or newer." in caplog.text
    assert [each.times for each in parts.endings()] == [2]
    one.start = started
    assert one.state.due is not None
    one.state = replace(one.state, due=0.0)
    parts.tend()
    assert one.alive


def test_one_that_others_ask_to_replace_is(make: Make) -> None:
    one, started = make("one")
    before = one.child
    assert one.asked is not None
    one.asked.touch()
    Parts(behind=[one]).tend()
    assert before is not None and not before.alive
    assert one.alive and not one.asked.exists()
    assert started.count == 2


@pytest.fixture
def dormant(tmp_path: Path) -> Iterator[tuple[Part, Started]]:
    """A part that is started once it is wanted."""
    started = Started(tmp_path, "spark")
    part = Part("Spark", tmp_path / "spark.log", started, wanted=tmp_path / "spark.wanted")
    yield part, started
    Parts(behind=[part]).stop()


def test_a_part_that_is_not_needed_is_well_and_two_that_want_it_start_one(
    dormant: tuple[Part, Started], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    part, started = dormant
    parts = Parts(behind=[part])
    parts.tend()
    assert not part.alive and parts.endings() == [] and started.count == 0
    for _ in range(2):
        spark_restart.want(tmp_path, "spark")
        parts.tend()
    assert part.alive and started.count == 1 and parts.endings() == []
    assert caplog.messages == ["Spark is needed for the first time. It is started."]
    kill(part)
    parts.tend()
    assert part.alive and started.count == 2 and parts.endings() == []


def test_a_part_whose_first_start_fails_is_told_and_tried_again_after_pauses(
    dormant: tuple[Part, Started], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts_module, "time", SimpleNamespace(monotonic=lambda: 1000.0))
    part, started = dormant
    tries = []

    def refuse() -> Child:
        tries.append(1)
        raise OSError("No space left on device")

    part.start = refuse
    parts = Parts(behind=[part])
    spark_restart.want(tmp_path, "spark")
    for _ in range(5):
        parts.tend()
    assert len(tries) == 2, "the second pause has not passed"
    assert [(told.name, told.log, told.is_down) for told in parts.endings()] == [
        ("Spark", "spark.log", True)
    ]
    part.start = started
    part.state = replace(part.state, due=0.0)
    parts.tend()
    assert part.alive


def test_after_redis_all_that_use_it_are_started_again_and_no_spark_is(make: Make) -> None:
    (redis, _), (spark, _), (worker, _) = make("redis"), make("spark"), make("worker")
    parts = Parts(behind=[spark, redis], others=[worker], redis=redis)
    before = (spark.child, worker.child)
    kill(redis)
    parts.tend()
    assert (spark.child is before[0], worker.child is before[1]) == (True, False)
    assert redis.alive and worker.alive and before[1] is not None and not before[1].alive


def test_while_redis_is_down_nothing_uses_it(make: Make) -> None:
    (redis, started), (worker, _) = make("redis"), make("worker")
    parts = Parts(behind=[redis], others=[worker], redis=redis)
    started.program = FAIL
    kill(redis)
    parts.tend()
    wait(redis)
    parts.tend()
    assert not worker.alive
    started.program = SLEEP
    redis.state = replace(redis.state, due=0.0)
    parts.tend()
    assert redis.alive and worker.alive


def test_what_has_ended_is_read_only_while_an_up_runs(tmp_path: Path) -> None:
    told = endings.Ending("Beat", "beat.log", 2, 5, True)
    (tmp_path / endings.NAME).write_text(endings.dump([told]))
    assert endings.read(tmp_path) == []
    with file_lock(tmp_path / "up.lock"):
        assert endings.read(tmp_path) == [told]


def test_parts_are_looked_after_while_the_files_about_them_cannot_be_reached(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    one, started = make("one")
    kept, one.asked = one.asked, UNREACHABLE
    parts = Parts(others=[one, Part("Spark", UNREACHABLE, started, wanted=UNREACHABLE)])
    parts.tend()
    assert one.alive and started.count == 1
    kill(one)
    assert one.child is not None
    one.child = replace(one.child, log=UNREACHABLE)
    parts.tend()
    assert "cannot be read" in caplog.text and "one cannot be started" in caplog.text
    one.asked, one.state = kept, replace(one.state, due=0.0)
    parts.tend()
    assert one.alive
