"""Worlds of fixed seeds are right, and in them all that can meet has met."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.simulation import coverage

ROOT = Path(__file__).resolve().parent.parent.parent

SEEDS, STEPS = "73", 80
"""What `make test` plays, in a minute of a quiet core."""

MORE, MORE_STEPS = "12,13,20,24", 120
"""What `make test-long` adds."""

MISSING, MISSING_LONG = 3179, 1756
"""Pairs that never met in these worlds, at most: lower it until it is 0."""

patiently = pytest.mark.timeout(3600)
"""For worlds on a machine that does much else."""

SECONDS = "SIMULATION_SECONDS"
"""How long fresh worlds are played, in the environment."""


def simulated(*arguments: str) -> list[dict[str, Any]]:
    """Play worlds by the command, and return its results."""
    command = [sys.executable, "-m", "tests.simulation", "--json", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert lines, done.stderr
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def worlds() -> list[dict[str, Any]]:
    return simulated("--seeds", SEEDS, "--steps", str(STEPS), "--jobs", "2")


def red(results: list[dict[str, Any]]) -> dict[int, str]:
    """Return what was found, by the seeds of the worlds that are not right."""
    return {result["seed"]: result["findings"][0] for result in results if result["findings"]}


@patiently
def test_worlds_of_fixed_seeds_are_right(worlds: list[dict[str, Any]]) -> None:
    assert not red(worlds)


@patiently
def test_what_can_meet_has_met(worlds: list[dict[str, Any]]) -> None:
    missing = coverage.missing({triple for world in worlds for triple in world["pairs"]})
    assert len(missing) <= MISSING, missing


@pytest.mark.long
@patiently
def test_more_meets_in_more_worlds(worlds: list[dict[str, Any]]) -> None:
    worlds = [*worlds, *simulated("--seeds", MORE, "--steps", str(MORE_STEPS), "--jobs", "2")]
    assert not red(worlds)
    missing = coverage.missing({triple for world in worlds for triple in world["pairs"]})
    assert len(missing) <= MISSING_LONG, missing


@pytest.mark.long
@patiently
def test_a_seed_gives_the_same_run_byte_for_byte(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for trace in (first, second):
        simulated("--seeds", "7", "--steps", "12", "--trace", str(trace))
    assert (first / "7.jsonl").read_bytes() == (second / "7.jsonl").read_bytes()


@pytest.mark.long
def test_a_world_on_a_real_spark_is_right() -> None:
    assert not red(simulated("--seeds", "10", "--steps", "150", "--spark"))


@pytest.mark.long
def test_worlds_of_fresh_seeds_are_right() -> None:
    assert not red(simulated("--seconds", os.environ.get(SECONDS, "3600"), "--spark"))
