"""A Spark that works for nobody is restarted; one that works for somebody is waited for."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from filters.site.work.parts import spark_restart
from tapestry.core.files.file_lock import is_shared, shared_lock


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_restart, "LOOK_SECONDS", 1.0)
    monkeypatch.setattr(spark_restart, "BUSY", 0.02)  # many others may want the same core
    monkeypatch.setattr(spark_restart, "YOUNG", 0.0)


@pytest.fixture(params=["while True: pass", "import time; print(flush=True); time.sleep(600)"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[bool]:
    """A process that stands for Spark; tell whether it is busy."""
    program = [sys.executable, "-c", request.param]
    with subprocess.Popen(program, stdout=subprocess.PIPE) as process:
        (tmp_path / "spark.pid").write_text(str(process.pid))
        busy = request.param.startswith("while")
        while busy and psutil.Process(process.pid).cpu_times().user < 0.2:
            time.sleep(0.05)  # it is being started
        if not busy:
            assert process.stdout is not None and process.stdout.readline() == b"\n"
        yield busy
        process.kill()


def test_a_server_is_restarted_only_if_it_is_busy(server: bool, tmp_path: Path) -> None:
    assert spark_restart.is_busy(tmp_path, "spark") == server
    spark_restart._ask_if_busy(tmp_path, "spark", 60)
    assert spark_restart.again(tmp_path, "spark").exists() == server


def test_a_server_that_was_just_started_is_let_be(
    tmp_path: Path,
) -> None:
    (tmp_path / "spark.pid").write_text(str(os.getpid()))
    spark_restart.ask(tmp_path, "spark", 10.0**9)
    assert not spark_restart.again(tmp_path, "spark").exists()
    spark_restart.ask(tmp_path, "spark", 0.0)
    assert spark_restart.again(tmp_path, "spark").exists()


@pytest.mark.parametrize("written", [None, "no number", str(2**22)])
def test_a_server_that_is_not_ours_or_gone_is_let_be(tmp_path: Path, written: str | None) -> None:
    if written is not None:
        (tmp_path / "spark.pid").write_text(written)
    spark_restart._ask_if_busy(tmp_path, "spark", 60)
    assert not spark_restart.again(tmp_path, "spark").exists()


def test_the_statements_of_others_are_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_restart, "is_busy", lambda run, server: True)
    (tmp_path / "spark.pid").write_text(str(os.getpid()))
    running = spark_restart.running(tmp_path, "spark")
    with shared_lock(running), shared_lock(running):
        asking = threading.Thread(target=spark_restart._ask_if_busy, args=(tmp_path, "spark", 60))
        asking.start()
        time.sleep(0.3)
        assert is_shared(running) and not spark_restart.again(tmp_path, "spark").exists()
    asking.join()
    assert not is_shared(running) and spark_restart.again(tmp_path, "spark").exists()
