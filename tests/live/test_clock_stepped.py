"""The clock of a whole site is set back and forward: mail comes in, is found and sent, once."""

from __future__ import annotations

import random
import time

import pytest

from tests.support.faults.site_killed import World
from tests.support.processes.stepped_clock import SteppedClock
from tests.support.servers.dovecot import running_dovecot
from tests.support.servers.site import end, start, wait_ready
from tests.support.servers.smtp import running_smtp

pytestmark = [pytest.mark.live, pytest.mark.long, pytest.mark.timeout(3600)]

STEPS = 60


def test_all_is_found_and_sent_once_while_the_clock_steps(inn, data_dir, tmp_path, spark_server):
    chance = random.Random(1)
    clock = SteppedClock(tmp_path, chance)
    with running_dovecot() as dovecot, running_smtp() as smtp:
        environment = {"EMAIL_URL": smtp.url, "SPARK_REMOTE": spark_server, **clock.environment}
        world = World(dovecot, inn, smtp, data_dir, environment, chance)
        world.settle()
        site = start(data_dir, **environment)
        try:
            wait_ready(site)
            for _ in range(STEPS):
                clock.step()
                world.send(chance.randint(0, 2))
                time.sleep(chance.uniform(0.0, 3.0))
                assert site.process.poll() is None, (data_dir / "up.log").read_text()
        finally:
            assert end(site) == 0
        clock.ahead(clock.most)  # what was to be shown at an instant is shown then
        assert not list(world.differences())
