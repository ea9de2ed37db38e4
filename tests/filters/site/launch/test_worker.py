"""Lanes in one process: none waits for another, and they end together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis

from tests.support.paths import ROOT

pytestmark = pytest.mark.live

SOON = 120.0

LANES = ("mail", "outbound", "sources")

PROGRAM = """
import os, pathlib, sys, time
import django
django.setup()
from filters.delivery import tasks
from filters.site.launch import worker
from tapestry.celery import app

def deliver(queue):
    pathlib.Path(sys.argv[1], f"{queue}-{time.monotonic_ns()}").touch()
    while queue == "outbound":
        time.sleep(1)

app.loader.import_default_modules()
app.tasks["filters.deliver"].run = deliver
worker.serve(sys.argv[2:])
"""


class Process:
    """A worker process whose deliveries only say that they began; those of ``outbound`` hang."""

    def __init__(self, data: Path, redis_url: str) -> None:
        self.begun = data / "begun"
        self.begun.mkdir()
        self.log = data / "worker.log"
        self.environment = os.environ | {"TAPESTRY_DATA": str(data), "REDIS_URL": redis_url}
        command = [sys.executable, "-c", PROGRAM, str(self.begun), *LANES]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=self.environment, stdout=log, stderr=log
            )

    def send(self, queue: str, count: int) -> None:
        code = "import sys; from tapestry.celery import app; [app.send_task('filters.deliver', "
        code += "(sys.argv[1],), queue=sys.argv[1]) for _ in range(int(sys.argv[2]))]"
        command = [sys.executable, "-c", code, queue, str(count)]
        subprocess.run(command, cwd=ROOT, env=self.environment, check=True)

    def count(self, queue: str) -> int:
        return len(list(self.begun.glob(f"{queue}-*")))

    def wait_for(self, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + SOON
        while not done():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.05)


@pytest.fixture
def worker(data_dir: Path, redis_url: str) -> Iterator[Process]:
    process = Process(data_dir, redis_url)
    yield process
    process.process.kill()
    process.process.wait()


def test_a_lane_whose_threads_all_hang_holds_back_no_other(worker: Process, redis_url: str) -> None:
    worker.send("outbound", 40)
    worker.wait_for(lambda: worker.count("outbound") == 8)
    worker.send("mail", 20)
    worker.send("sources", 20)
    worker.wait_for(lambda: worker.count("mail") == worker.count("sources") == 20)
    assert worker.count("outbound") == 8
    with redis.from_url(redis_url) as server:
        worker.wait_for(lambda: server.llen("outbound") <= 40 - 2 * 8)
        assert server.llen("outbound") == 40 - 2 * 8  # no more are taken than can begin soon


def test_its_lanes_end_together_when_they_are_told_to(worker: Process) -> None:
    worker.send("mail", 1)
    worker.wait_for(lambda: worker.count("mail") == 1)
    worker.process.send_signal(signal.SIGTERM)
    assert worker.process.wait(SOON) == 0
    assert "Traceback" not in worker.log.read_text()
