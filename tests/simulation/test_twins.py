"""A calm world and its twin: what one person reads and is sent is the same in both."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def played(*arguments: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "tests.simulation", "--twins", "--json", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert results, done.stderr
    return results


@pytest.mark.timeout(1800)
def test_mail_that_somebody_may_not_see_changes_nothing_for_them() -> None:
    (result,) = played("--seeds", "2", "--steps", "20")
    assert result["findings"] == []
    assert result["counts"]["hidden"] and result["counts"]["read"]


@pytest.mark.long
def test_twins_of_many_seeds_are_alike() -> None:
    results = played("--seeds", "100-129", "--steps", "100")
    assert not [result for result in results if result["findings"]]
