"""Worlds that were red once are right."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.red_seeds import RED

PLACE = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("red", RED, ids=lambda red: f"{red.seed}-{red.steps}")
def test_the_mend_of_each_has_a_test(red):
    assert (PLACE / red.test).is_file()


@pytest.mark.long
@pytest.mark.parametrize("red", RED, ids=lambda red: f"{red.seed}-{red.steps}")
def test_each_is_right(red):
    command = [sys.executable, "-m", "tests.simulation", "--json", "--seeds", str(red.seed)]
    played = subprocess.run(
        [*command, "--steps", str(red.steps)], cwd=PLACE, check=False, capture_output=True
    )
    assert json.loads(played.stdout)["findings"] == []
