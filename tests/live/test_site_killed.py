"""Any part of a site is killed, at any time: nothing is lost, and nothing comes twice."""

from __future__ import annotations

import os
import random
from contextlib import nullcontext

import pytest

from tests.support.faults.site_killed import World
from tests.support.servers.dovecot import running_dovecot
from tests.support.servers.postgres import running_postgres
from tests.support.servers.smtp import running_smtp

pytestmark = [pytest.mark.live, pytest.mark.timeout(3600)]

KILLS = int(os.environ.get("TEST_KILLS") or 30)
"""Kills of the long campaign on each database; a start of all parts is needed for every third."""


@pytest.fixture
def world(inn, data_dir, request):
    """A world on a database of the kind that the test names."""
    on_postgres = request.param == "postgres"
    with (
        running_dovecot() as dovecot,
        running_smtp() as smtp,
        running_postgres() if on_postgres else nullcontext("") as database,
    ):
        environment = {"EMAIL_URL": smtp.url, "DATABASE_URL": database}
        chance = random.Random(KILLS)
        made = World(dovecot, inn, smtp, data_dir, environment, chance)
        try:
            made.settle()
            yield made
        finally:
            made.end()


@pytest.mark.long
@pytest.mark.parametrize("world", ["sqlite"], indirect=True)
def test_nothing_is_lost_or_comes_twice_when_parts_are_killed(world, spark_server):
    world.environment["SPARK_REMOTE"] = spark_server  # which starts at once
    world.run_and_kill(3)
    assert not list(world.differences())


@pytest.mark.long
@pytest.mark.timeout(0)
@pytest.mark.parametrize("world", ["sqlite", "postgres"], indirect=True)
def test_nothing_is_lost_or_comes_twice_when_parts_are_killed_again_and_again(world, spark_server):
    while world.killed.total() < KILLS:
        # Half of the time a Spark that runs already is used: all else starts sooner.
        more = {"SPARK_REMOTE": spark_server} if world.chance.random() < 0.5 else {}
        world.run_and_kill(5, **more)
        print(world.killed.total(), dict(world.killed), flush=True)
    assert not list(world.differences())
