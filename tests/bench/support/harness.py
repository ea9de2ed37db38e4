"""Run, time and check rounds: filters over an archive, and the mail that arrives."""

from __future__ import annotations

import statistics
from collections import defaultdict
from functools import partial
from itertools import cycle
from typing import Any

from filters.authoring.lifecycle import install
from filters.people.models import User
from filters.runs import rounds
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.parts import services
from tapestry.core.clock import MINUTE
from tapestry.core.errors import TapestryError
from tapestry.core.ports import Match
from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.plan.compile import compile_filter
from tapestry.query.context import Context
from tapestry.run.execute import Subscription, execute
from tapestry.tables.delta.log import snapshot
from tapestry.tables.keys.hash_runs import extend_index
from tapestry.tables.write.append import append_annotations, append_messages
from tests.bench.support import footprint, mail
from tests.bench.support.bulk_install import OWNERS, Population
from tests.bench.support.population import FilterSpec, Round, Workload, filter_specs
from tests.bench.support.timing import timed
from tests.bench.support.votes import append_dated


class Harness:
    """An archive, filters over it, and the rounds so far."""

    def __init__(self, workload: Workload, hot: int) -> None:
        self.workload = workload
        self.tables = services.tables()
        written, messages = zip(*workload.before(), strict=True)
        append_dated(self.tables, MESSAGES, messages, written)
        mail.fill(self.tables, workload.archive, 0)
        voted, votes = zip(*workload.old_votes(), strict=True)
        append_dated(self.tables, ANNOTATIONS, votes, voted)
        extend_index(self.tables, ANNOTATIONS)
        with DjangoClock().lock() as clock:
            clock.advance(workload.begin)
        self.population = Population(self.tables.root, hot, workload.weeks, workload.begin)
        self.install_seconds = 0.0
        self.done = 0
        self.matches: list[Match] = []

    def point(self, filters: int, messages: int, warming: int, repeat: int) -> dict[str, Any]:
        """Install filters up to ``filters``, and time rounds over ``messages`` new messages."""
        self.install_seconds += timed(lambda: self.population.grow(filters))[0]
        seconds = [self._round(messages) for _ in range(warming + repeat)]
        wall, cpu = zip(*seconds[warming:], strict=True)
        return {
            "filters": filters,
            "messages": messages,
            "tick_seconds": round(statistics.median(wall), 3),
            "tick_cpu_seconds": round(statistics.median(cpu), 3),
            "first_tick_seconds": round(seconds[0][0], 3),
            "matches": len(self.matches),
        }

    def _round(self, messages: int) -> tuple[float, float]:
        """Append the mail and votes of the next round, run it, and return wall and CPU seconds."""
        end = self.workload.end(self.done)
        new = self.workload.round(self.done, messages)
        clock = DjangoClock()
        append_messages(self.tables, clock, new.letters, now=lambda: end - MINUTE)
        append_annotations(self.tables, clock, new.votes, now=lambda: end - MINUTE // 2)
        cpu_begin = footprint.cpu_seconds()
        wall, report = timed(lambda: rounds.run_round(at=end))
        cpu = footprint.cpu_seconds() - cpu_begin
        self.done += 1
        self.matches = list(report.matches)
        self._check(new)
        return wall, cpu

    def _check(self, new: Round) -> None:
        """Raise TapestryError unless the round found exactly the expected matches."""
        actual = {(match.filter_id, match.msgid) for match in self.matches}
        expected = {
            (spec.number + 1, msgid)
            for spec in self._hot()
            for msgid in new.expected[spec.kind, spec.rank]
        }
        if actual != expected:
            raise TapestryError(
                f"Round {self.done} found {len(actual)} matches, {len(actual - expected)} too "
                f"many; {len(expected - actual)} are missing: {sorted(actual ^ expected)[:5]}"
            )

    def _hot(self) -> list[FilterSpec]:
        hot = self.population.hot
        return list(filter_specs(0, min(hot, self.population.count), hot, self.workload.weeks))

    def one_by_one(self, count: int) -> tuple[float, int]:
        """Run filters one by one over the last window; return the median seconds, and how many.

        Half of them are hot.  All share an engine, which reads what is new once for all of them.
        Raises TapestryError if their matches are not those of the round.
        """
        together: dict[int, set[tuple[object, ...]]] = defaultdict(set)
        for match in self.matches:
            together[match.filter_id].add(_essence(match))
        since, until = self.workload.end(self.done - 2), self.workload.end(self.done - 1)
        engine = services.engine_on(snapshot(self.tables))
        seconds = []
        for spec in self._sample(count):
            due = self.population.due(spec)
            compiled = compile_filter(due.text, Context(due.owner))
            subscription = Subscription(due.filter_id, compiled, due.audiences, since)
            run = partial(execute, engine, [subscription], until, lambda pairs: set())
            wall, matches = timed(run)
            seconds.append(wall)
            if {_essence(match) for match in matches} != together[due.filter_id]:
                raise TapestryError(f"{spec.phrase!r} finds alone other messages than together.")
        return round(statistics.median(seconds), 4), len(seconds)

    def _sample(self, count: int) -> list[FilterSpec]:
        half, hot = count // 2, self.population.hot
        high = min(hot + half, self.population.count)
        return [*self._hot()[:half], *filter_specs(hot, high, hot, self.workload.weeks)]

    def installs_per_minute(self, installed: int) -> int:
        """Return how many filters people could install in a minute, measured on ``installed``.

        Each is parsed, compiled, explained and stored; none is run yet.
        """
        count = self.population.count
        specs = filter_specs(count, count + installed, 0, self.workload.weeks)
        owners = User.objects.order_by("pk")[: min(installed, OWNERS)]
        new = [(owner, spec.phrase) for owner, spec in zip(cycle(owners), specs, strict=False)]
        seconds, _ = timed(lambda: [install(owner, text) for owner, text in new])
        return round(60 * len(new) / seconds)


def _essence(match: Match) -> tuple[object, ...]:
    return (match.msgid, match.audience, match.matched_at, match.disjunct, match.evidence)
