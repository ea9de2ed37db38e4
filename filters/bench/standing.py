"""Filters that stand over an archive, and rounds over the mail that comes: run, timed, checked."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from filters.bench import footprint, mail
from filters.bench.crowd import Round, Wanted, World, wanted
from filters.bench.entering import OWNERS, Crowd

if TYPE_CHECKING:
    from tapestry.core.message import Annotation, Message
    from tapestry.core.ports import Match


class Standing:
    """An archive, filters over it, and the rounds so far."""

    def __init__(self, world: World, hot: int) -> None:
        from filters.runtime import services
        from filters.store.filter_store import DjangoClock
        from tapestry.core.schema import ANNOTATIONS, MESSAGES
        from tapestry.predicate_index.store import Register
        from tapestry.tables.hash_runs import extend_index

        self.world = world
        self.tables = services.tables()
        self.register = Register(self.tables.root)
        _write(self.tables, MESSAGES, world.before())
        mail.fill(self.tables, world.archive, 0)
        _write(self.tables, ANNOTATIONS, world.old_votes())
        extend_index(self.tables, ANNOTATIONS)
        with DjangoClock().lock() as held:
            held.advance(world.begin)
        self.crowd = Crowd(self.register, hot, world.weeks, world.begin)
        self.crowd.settle()
        self.entering = 0.0
        self.done = 0
        self.found: list[Match] = []

    def point(self, filters: int, messages: int, warming: int, repeat: int) -> dict[str, Any]:
        """Enter what is missing of so many filters, and time rounds over so many messages."""
        begun = time.perf_counter()
        self.crowd.grow(filters)
        self.entering += time.perf_counter() - begun
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

        end = self.world.end(self.done)
        new = self.world.round(self.done, messages)
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
        """Raise TapestryError unless the round found what its mail was made for."""
        from tapestry.core.errors import TapestryError

        found = {(match.filter, match.msgid) for match in self.found}
        expected = {
            (one.number + 1, msgid)
            for one in self._hot()
            for msgid in new.found.get((one.kind, one.rank), ())
        }
        if found != expected:
            raise TapestryError(
                f"Round {self.done} found {len(found)} matches, {len(found - expected)} too many; "
                f"{len(expected - found)} are missing: {sorted(found ^ expected)[:5]}"
            )

    def _hot(self) -> list[Wanted]:
        return list(wanted(0, self.crowd.hot, self.crowd.hot, self.world.weeks))

    def one_by_one(self, count: int) -> tuple[float, int]:
        """Run filters alone over the last window; return the median seconds, and how many ran.

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
            together[match.filter].add(_essence(match))
        since, until = self.world.end(self.done - 2), self.world.end(self.done - 1)
        engine = services.engine_on(snapshot(self.tables))
        seconds = []
        for one in self._sample(count):
            due = self.crowd.due(one)
            compiled = compile_filter(due.text, Context(due.owner))
            asked = Subscription(due.id, compiled, due.audiences, since)
            begun = time.perf_counter()
            found = execute(engine, [asked], until, lambda pairs: set())
            seconds.append(time.perf_counter() - begun)
            if {_essence(match) for match in found} != together[due.id]:
                raise TapestryError(f"{one.phrase!r} finds alone what it does not find together.")
        return round(statistics.median(seconds), 4), len(seconds)

    def _sample(self, count: int) -> list[Wanted]:
        half, crowd = count // 2, self.crowd
        hot = self._hot()[:half]
        cold = wanted(crowd.hot, min(crowd.hot + half, crowd.count), crowd.hot, self.world.weeks)
        return [*hot, *cold]

    def installs_per_minute(self, installed: int) -> int:
        """Return how many filters people could install in a minute: by installing some.

        Each is read, understood, explained and stored; none is run yet.
        """
        from django.contrib.auth.models import User

        from filters.authoring.lifecycle import install

        count = self.crowd.count
        texts = [one.phrase for one in wanted(count, count + installed, 0, self.world.weeks)]
        owners = list(User.objects.order_by("pk")[: min(installed, OWNERS)])
        begun = time.perf_counter()
        for number, text in enumerate(texts):
            install(owners[number % len(owners)], text)
        return round(60 * len(texts) / (time.perf_counter() - begun))


def _essence(match: Match) -> tuple[object, ...]:
    return (match.msgid, match.audience, match.matched_at, match.disjunct, match.evidence)


def _write(tables: Any, table: str, dated: Sequence[tuple[int, Message | Annotation]]) -> None:
    """Write rows with the ts given, as one file."""
    import pyarrow as pa
    from deltalake import write_deltalake

    from tapestry.tables.append import WRITER
    from tapestry.tables.rows import to_arrow

    rows = to_arrow(table, [each for _, each in dated])  # type: ignore[arg-type]
    place = rows.schema.get_field_index("ts")
    stamps = pa.array([ts for ts, _ in dated], type=pa.int64())
    rows = rows.set_column(place, rows.schema.field(place), stamps)
    write_deltalake(tables.open(table), rows, mode="append", writer_properties=WRITER)
