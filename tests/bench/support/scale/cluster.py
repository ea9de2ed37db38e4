"""A simulated cluster, which checks the model: mail comes at random, and everything queues.

    mail ─> clock ─> visible ─┬─ part 1: clock ─ evaluate ─ commit ─┬─ release ─> matched
                              └─ part 2: …                          ┘

Each resource is a queue [first come, first served]: the clock and the release lock have one place,
the database as many as a machine has cores, the processors those of all machines.
"""

from __future__ import annotations

import random
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import simpy

from tests.bench.support.scale.model import (
    MOST_ROWS,
    Costs,
    Site,
    append_seconds,
    commit_seconds,
    window_seconds,
)

Process = Generator[simpy.Event, Any, None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Messages a second that went through all parts; seconds from arrival to the last release."""

    throughput: float
    median: float
    late: float
    """95 of 100 messages took no longer."""


@dataclass(slots=True)
class Cluster:
    """A site at work; ``visible`` has the arrival of each append, and ``matched`` its waits."""

    costs: Costs
    site: Site
    seed: int
    visible: list[float] = field(default_factory=list)
    reached: list[int] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    def run(self, seconds: float) -> Outcome:
        """Let the site work for so long; the first tenth is not measured."""
        env, site = simpy.Environment(), self.site
        self.reached = [0] * site.parts
        clock, release = simpy.Resource(env, 1), simpy.Resource(env, 1)
        database = simpy.Resource(env, site.cores)
        processors = simpy.Resource(env, site.machines * site.cores)
        env.process(self._mail(env, clock))
        for number in range(site.parts):
            env.process(self._part(env, number, clock, processors, database, release))
        env.run(until=seconds / 10)
        self.waits = []
        env.run(until=seconds)
        through = len(self.waits) / site.parts * site.together / (seconds * 0.9)
        waits = self.waits or [float("inf")]
        return Outcome(through, float(np.median(waits)), float(np.percentile(waits, 95)))

    def _mail(self, env: simpy.Environment, clock: simpy.Resource) -> Process:
        chance = random.Random(self.seed)
        while True:
            yield env.timeout(chance.expovariate(self.site.rate / self.site.together))
            env.process(self._append(env, clock))

    def _append(self, env: simpy.Environment, clock: simpy.Resource) -> Process:
        arrived = env.now
        yield from _using(env, clock, append_seconds(self.costs, self.site.together))
        self.visible.append(arrived)

    def _part(
        self,
        env: simpy.Environment,
        number: int,
        clock: simpy.Resource,
        processors: simpy.Resource,
        database: simpy.Resource,
        release: simpy.Resource,
    ) -> Process:
        costs, site = self.costs, self.site
        most = max(1, int(MOST_ROWS / site.together))
        while True:
            begin = env.now
            yield from _using(env, clock, costs.watermark)
            since = self.reached[number]
            until = min(len(self.visible), since + most)
            messages = (until - since) * site.together
            yield from _using(env, processors, window_seconds(costs, site, messages))
            yield from _using(env, database, commit_seconds(costs, site, messages))
            found = messages * site.matches / site.parts
            self.reached[number] = until
            env.process(self._release(env, release, found * costs.release_match, since, until))
            if until < since + most:
                yield env.timeout(max(0.0, begin + site.period - env.now))

    def _release(
        self, env: simpy.Environment, release: simpy.Resource, seconds: float, since: int, end: int
    ) -> Process:
        yield from _using(env, release, seconds)
        self.waits += [env.now - arrived for arrived in self.visible[since:end]]


def _using(env: simpy.Environment, resource: simpy.Resource, seconds: float) -> Process:
    with resource.request() as turn:
        yield turn
        yield env.timeout(seconds)
