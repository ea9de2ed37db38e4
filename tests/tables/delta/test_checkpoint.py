"""A checkpoint is whole, or has no name in the log, whenever the power fails."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tapestry.core.message import Message
from tapestry.tables.delta import log_check, log_state
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.clocks import MemoryClock
from tests.support.faults.power_loss import SHARES, Disk, read_records, recording
from tests.support.paths import ROOT
from tests.support.processes.preloaded import build

MAKE = """
import sys
from pathlib import Path
from tapestry.tables.delta.log_check import make_checkpoint
make_checkpoint(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("of_one_before", [False, True])
def test_power_fails_while_one_is_made(tmp_path: Path, of_one_before: bool, step: int) -> None:
    """After each thing that is done, or after every third and the last."""
    data, left = tmp_path / "data", tmp_path / "left"
    tables = Tables(data)
    for number in range(5):
        append_messages(tables, MemoryClock(), [Message(f"m{number}")])
        if of_one_before and number == 2:
            log_check.make_checkpoint(data / "messages")
    log, disk = tmp_path / "log", Disk(data)
    environment = recording(build("recorded_files", tmp_path), data, log)
    command = [sys.executable, "-c", MAKE, str(data / "messages")]
    subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=True)
    chance = random.Random(7)
    records = read_records(log)
    assert len(records) > 20
    for number, record in enumerate(records, 1):
        disk.do([record])
        if number % step and number < len(records):
            continue
        for share in SHARES:
            disk.lose_power(chance, left, share)
            log_state.log_state.cache_clear()
            version, files = Tables(left).version("messages")
            assert (version, sum(file.rows for file in files)) == (5, 5), (record.kind, share)
    log_state.log_state.cache_clear()
    assert log_check.newest_checkpoint(left / "messages") == 5
