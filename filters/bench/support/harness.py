"""Run, time and check rounds: filters over an archive, and the mail that arrives."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from filters.bench.support import footprint, mail
from filters.bench.support.bulk_install import OWNERS, Population
from filters.bench.support.population import FilterSpec, Round, Workload, filter_specs

if TYPE_CHECKING:
    from tapestry.core.message import Annotation, Message
    from tapestry.core.ports import Match


class Harness:
    """An archive, filters over it, and the rounds so far."""

    def __init__(self, workload: Workload, hot: int) -> None:
        from filters.runtime import services
        from filters.store.filter_store import DjangoClock
        from tapestry.core.schema import ANNOTATIONS, MESSAGES
        from tapestry.predicate_index.store import PredicateIndex
        from tapestry.tables.hash_runs import extend_index

        self.workload = workload
        self.tables = services.tables()
        self.index = PredicateIndex(self.tables.root)
        _write(self.tables, MESSAGES, workload.before())
        mail.fill(self.tables, workload.archive, 0)
        _write(self.tables, ANNOTATIONS, workload.old_votes())
        extend_index(self.tables, ANNOTATIONS)
        with DjangoClock().lock() as held:
            held.advance(workload.begin)
        self.population = Population(self.index, hot, workload.weeks, workload.begin)
        self.population.create_owners()
        self.install_seconds = 0.0
        self.done = 0
        self.found: list[Match] = []

    def point(self, filters: int, messages: int, warming: int, repeat: int) -> dict[str, Any]:
        """Install filters up to ``filters``, and time rounds over ``messages`` new messages."""
        begun = time.perf_counter()
        self.population.grow(filters)
        self.install_seconds += time.perf_counter() - begun
        taken = [self._round(messages) for _ in range(warming + repeat)]
        wall, cpu = zip(*taken[warming:], strict=True)
        return {
            "filters": filters,
            "messages": messages,
            "tick_seconds": round(statistics.median(wall), 3),
            "tick_cpu_seconds": round(statistics.median(cpu), 3),
            "first_tick_seconds": round(taken[0][0], 3),
            "matches": len(self.found),
        }

    def _round(self, messages: int) -> tuple[float, float]:
        """Append the mail and votes of the next round, run it, and return wall and CPU seconds."""
        from filters.store.filter_store import DjangoClock
        from filters.upkeep import rounds
        from tapestry.tables.append import append_annotations, append_messages

        end = self.workload.end(self.done)
        new = self.workload.round(self.done, messages)
        clock = DjangoClock()
        append_messages(self.tables, clock, new.letters, now=lambda: end - mail.MINUTE)
        append_annotations(self.tables, clock, new.votes, now=lambda: end - mail.MINUTE // 2)
        begun, used = time.perf_counter(), footprint.cpu_seconds()
        report = rounds.run_round(at=end)
        taken = time.perf_counter() - begun, footprint.cpu_seconds() - used
        self.done += 1
        self.found = list(report.matches)
        self._check(new)
        return taken

    def _check(self, new: Round) -> None:
        """Raise TapestryError unless the round found exactly the expected matches."""
        from tapestry.core.errors import TapestryError

        found = {(match.filter_id, match.msgid) for match in self.found}
        expected = {
            (spec.number + 1, msgid)
            for spec in self._hot()
            for msgid in new.found.get((spec.kind, spec.rank), ())
        }
        if found != expected:
            raise TapestryError(
                f"Round {self.done} found {len(found)} matches, {len(found - expected)} too many; "
                f"{len(expected - found)} are missing: {sorted(found ^ expected)[:5]}"
            )

    def _hot(self) -> list[FilterSpec]:
        return list(filter_specs(0, self.population.hot, self.population.hot, self.workload.weeks))

    def one_by_one(self, count: int) -> tuple[float, int]:
        """Run filters one by one over the last window; return the median seconds, and how many.

        Half of them are hot.  All share an engine, which reads what is new once for all of them.
        Raises TapestryError if their matches are not those of the round.
        """
        from filters.runtime import services
        from tapestry.core.errors import TapestryError
        from tapestry.plan.compile import compile_filter
        from tapestry.query.context import Context
        from tapestry.run.execute import Subscription, execute
        from tapestry.tables.log import snapshot

        together: dict[int, set[tuple[object, ...]]] = defaultdict(set)
        for match in self.found:
            together[match.filter_id].add(_essence(match))
        since, until = self.workload.end(self.done - 2), self.workload.end(self.done - 1)
        engine = services.engine_on(snapshot(self.tables))
        seconds = []
        for spec in self._sample(count):
            due = self.population.due(spec)
            compiled = compile_filter(due.text, Context(due.owner))
            subscription = Subscription(due.filter_id, compiled, due.audiences, since)
            begun = time.perf_counter()
            found = execute(engine, [subscription], until, lambda pairs: set())
            seconds.append(time.perf_counter() - begun)
            if {_essence(match) for match in found} != together[due.filter_id]:
                raise TapestryError(f"{spec.phrase!r} finds alone other messages than together.")
        return round(statistics.median(seconds), 4), len(seconds)

    def _sample(self, count: int) -> list[FilterSpec]:
        half, population, weeks = count // 2, self.population, self.workload.weeks
        high = min(population.hot + half, population.count)
        hot = self._hot()[:half]
        cold = filter_specs(population.hot, high, population.hot, weeks)
        return [*hot, *cold]

    def installs_per_minute(self, installed: int) -> int:
        """Return how many filters people could install in a minute, measured on ``installed``.

        Each is parsed, compiled, explained and stored; none is run yet.
        """
        from django.contrib.auth.models import User

        from filters.authoring.lifecycle import install

        count = self.population.count
        texts = [
            spec.phrase for spec in filter_specs(count, count + installed, 0, self.workload.weeks)
        ]
        owners = list(User.objects.order_by("pk")[: min(installed, OWNERS)])
        begun = time.perf_counter()
        for number, text in enumerate(texts):
            install(owners[number % len(owners)], text)
        return round(60 * len(texts) / (time.perf_counter() - begun))


def _essence(match: Match) -> tuple[object, ...]:
    return (match.msgid, match.audience, match.matched_at, match.disjunct, match.evidence)


def _write(tables: Any, table: str, dated: Sequence[tuple[int, Message | Annotation]]) -> None:
    """Write rows with a given ``ts`` each, as one file."""
    import pyarrow as pa
    from deltalake import write_deltalake

    from tapestry.tables.append import WRITER
    from tapestry.tables.rows import to_arrow

    rows = to_arrow(table, [row for _, row in dated])  # type: ignore[arg-type]
    place = rows.schema.get_field_index("ts")
    stamps = pa.array([ts for ts, _ in dated], type=pa.int64())
    rows = rows.set_column(place, rows.schema.field(place), stamps)
    write_deltalake(tables.open(table), rows, mode="append", writer_properties=WRITER)
