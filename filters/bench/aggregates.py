"""How long aggregates and top-k take over new votes, against a query over all votes."""

from __future__ import annotations

import random
import statistics
import time
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tapestry.core.message import Annotation
    from tapestry.plan.engine import Engine
    from tapestry.tables.log import Tables

SUMMARY = "filters that count and rank: the new votes alone, against all of them"

FILTERS = {
    "more_than": "voted for by more than 500 people",
    "score": "with a score above 100",
    "average": "AVG(a.number IN annotations: a.msgid = m.msgid AND a.kind = 'vote') > 0",
    "within_a_week": "COUNT(a IN annotations: a.msgid = m.msgid AND a.kind = 'vote' "
    "AND a.ts > now() - 1 week) > 20",
    "top": "among the top ten by votes",
}

FIGURES = {
    f"{name}: {{delta:,}} new votes after {{annotations:,}}; over all of them": (
        f"{{filters[{name}][incremental_ms]:.0f}} ms; {{filters[{name}][full_ms]:.0f}} ms"
    )
    for name in FILTERS
}

EACH = 1000
"""Votes on a message."""

TOGETHER = 50
"""Messages that are voted on at a time; the oldest of them is replaced in turn."""

SECOND = 1_000_000
BEGIN = 1_700_000_000 * SECOND
APART = 26 * SECOND
"""Between two votes, so that a message is voted on for about two weeks."""

FILE = 250_000


def add_arguments(parser: ArgumentParser) -> None:
    """Declare --annotations, --delta, --scattered and --repeat."""
    parser.add_argument("--annotations", type=int, default=100_000, help="votes in the table")
    parser.add_argument("--delta", type=int, default=1000, help="new votes in the window")
    parser.add_argument(
        "--scattered", action="store_true", help="votes on any message at any time, not in its days"
    )
    parser.add_argument("--repeat", type=int, default=5, help="measured runs of each filter")


def measure(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the median milliseconds of each filter and of all: over the window, and of all."""
    from filters.runtime import services
    from tapestry.core.clock import BEGINNING
    from tapestry.plan.compile import compile_filter
    from tapestry.plan.engine import evaluate
    from tapestry.plan.lowering.lower import lower_at
    from tapestry.query.context import Context
    from tapestry.run.execute import Subscription, execute, signature_groups
    from tapestry.spark.engine import SparkEngine
    from tapestry.spark.session import LOCAL, connect
    from tapestry.tables.log import snapshot

    since, until = _fill(
        services.tables(), options["annotations"], options["delta"], options["scattered"]
    )
    session = connect(LOCAL)
    found = snapshot(services.tables())
    filters: dict[str, dict[str, float | int]] = {}
    for name, text in FILTERS.items():
        plan = compile_filter(text, Context("terry"))
        window = Subscription(1, plan, ("public",), since)

        def over_the_window(engine: Engine, window: Subscription = window) -> int:
            return len(execute(engine, [window], until, lambda pairs: set()))

        def of_all(engine: Engine, window: Subscription = window) -> int:
            return len(evaluate(engine, lower_at(signature_groups([(window, BEGINNING)]), until)))

        def fresh() -> Engine:
            return SparkEngine(session, found)

        figures = {
            "incremental_ms": _median_ms(over_the_window, fresh, options["repeat"]),
            "full_ms": _median_ms(of_all, fresh, options["repeat"]),
            "matches": over_the_window(fresh()),
            "answer": of_all(fresh()),
        }
        filters[name] = figures

    return {
        "annotations": options["annotations"],
        "delta": options["delta"],
        "incremental_ms": round(sum(figures["incremental_ms"] for figures in filters.values()), 1),
        "full_ms": round(sum(figures["full_ms"] for figures in filters.values()), 1),
        "filters": filters,
    }


def _median_ms(run: Callable[[Engine], int], fresh: Callable[[], Engine], repeat: int) -> float:
    seconds = []
    for _ in range(repeat + 2):
        engine = fresh()
        begun = time.perf_counter()
        run(engine)
        seconds.append(time.perf_counter() - begun)
    return round(1000 * statistics.median(seconds[2:]), 1)


def _fill(tables: Tables, annotations: int, delta: int, scattered: bool) -> tuple[int, int]:
    """Write messages with about EACH votes each, then the new votes; return the window of these.

    The new votes are on TOGETHER messages, and those before, unless they are scattered, on the
    TOGETHER that were voted on at their time.
    """
    from tapestry.core.message import Annotation, Message
    from tapestry.core.schema import ANNOTATIONS, MESSAGES
    from tapestry.tables.hash_runs import extend_index
    from tapestry.tables.rows import to_arrow

    chance = random.Random(7)
    messages = max((annotations + delta) // EACH, TOGETHER)
    mail = [Message(msgid=f"m{n}@x.org", sender=f"p{n % 50}@x.org") for n in range(messages)]
    _write(tables, MESSAGES, to_arrow(MESSAGES, mail), [BEGIN] * messages)

    def about(number: int) -> int:
        if scattered and number < annotations:
            return number % messages
        newest = min(number // EACH, messages - 1)
        return newest - chance.randrange(min(TOGETHER, newest + 1))

    def vote(number: int) -> Annotation:
        owner = f"u{chance.randrange(5 * EACH)}"
        value = 1.0 if chance.random() < 0.55 else -1.0
        msgid = f"m{about(number)}@x.org"
        return Annotation(f"a{number}", msgid, owner, "vote", number=value)

    for low in range(0, annotations, FILE):
        _add(tables, range(low, min(low + FILE, annotations)), vote)
    _add(tables, range(annotations, annotations + delta), vote)
    for table in (MESSAGES, ANNOTATIONS):
        extend_index(tables, table)
    return _at(annotations - 1), _at(annotations + delta - 1)


def _add(tables: Tables, numbers: range, vote: Callable[[int], Annotation]) -> None:
    from tapestry.core.schema import ANNOTATIONS
    from tapestry.tables.rows import to_arrow

    votes = to_arrow(ANNOTATIONS, [vote(number) for number in numbers])
    _write(tables, ANNOTATIONS, votes, [_at(number) for number in numbers])


def _at(number: int) -> int:
    return BEGIN + (number + 1) * APART


def _write(tables: Tables, table: str, rows: Any, instants: list[int]) -> None:
    import pyarrow as pa
    from deltalake import write_deltalake

    from tapestry.tables.append import WRITER

    place = rows.schema.get_field_index("ts")
    stamps = pa.array(instants, type=pa.int64())
    dated = rows.set_column(place, rows.schema.field(place), stamps)
    write_deltalake(tables.open(table), dated, mode="append", writer_properties=WRITER)
