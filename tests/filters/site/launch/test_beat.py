"""Beat sends what is periodic, whatever is done to the wall clock."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time

import pytest
import redis

from tapestry.core.clock import DAY
from tests.support.paths import ROOT
from tests.support.processes.stepped_clock import SteppedClock

pytestmark = pytest.mark.live

SOON = 180.0


@pytest.fixture
def clock(tmp_path):
    return SteppedClock(tmp_path, random.Random(1))


@pytest.fixture
def ticks(redis_url, data_dir, clock):
    """Run beat; return a function that waits for so many more ticks."""
    queue = redis.from_url(redis_url)
    environment = {"TAPESTRY_DATA": str(data_dir), "TAPESTRY_TICK": "1", "REDIS_URL": redis_url}
    command = ["celery", "-A", "tapestry.celery", "--skip-checks", "beat", "--pidfile", ""]
    beat = subprocess.Popen(
        [sys.executable, "-m", *command, "--scheduler", "celery.beat:Scheduler"],
        cwd=ROOT,
        env=os.environ | environment | clock.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def wait_for(more):
        wanted, deadline = queue.llen("shared") + more, time.monotonic() + SOON
        while queue.llen("shared") < wanted:
            assert beat.poll() is None and time.monotonic() < deadline
            time.sleep(0.1)

    yield wait_for
    beat.kill()
    beat.wait()


def test_ticks_go_on_while_the_clock_is_set_back_and_forward(ticks, clock):
    ticks(2)
    for ahead in (-DAY, DAY, 0):
        clock.ahead(ahead)
        ticks(3)
