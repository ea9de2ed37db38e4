"""How long filters that count and rank take as votes come in one by one, against asking anew."""

from __future__ import annotations

import random
import statistics
import time
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tapestry.run.answer import Engine
    from tapestry.tables.log import Tables

SAYS = "filters that count and rank: the new votes alone, against all of them"

FILTERS = {
    "more_than": "voted for by more than 500 people",
    "score": "with a score above 100",
    "average": "AVG(a.number IN annotations: a.msgid = m.msgid AND a.kind = 'vote') > 0",
    "within_a_week": "COUNT(a IN annotations: a.msgid = m.msgid AND a.kind = 'vote' "
    "AND a.ts > now() - 1 week) > 20",
    "top": "among the top ten by votes",
}

EACH = 1000
"""Votes on each message before the new ones."""

SECOND = 1_000_000
BEGIN = 1_700_000_000 * SECOND
FILE = 250_000


def add_arguments(parser: ArgumentParser) -> None:
    """Declare --annotations, --delta and --repeat."""
    parser.add_argument("--annotations", type=int, default=100_000, help="votes in the table")
    parser.add_argument("--delta", type=int, default=1000, help="new votes in the window")
    parser.add_argument("--repeat", type=int, default=5, help="measured runs of each filter")


def measure(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the median milliseconds of each filter and of all: over the window, and of all."""
    from filters import parts
    from tapestry.core.clock import BEGINNING
    from tapestry.plan.compile import compile_filter
    from tapestry.plan.lower import lower_at
    from tapestry.query.context import Context
    from tapestry.run.answer import answer
    from tapestry.run.execute import Subscription, execute, groups
    from tapestry.run.spark import LOCAL, SparkEngine, connect
    from tapestry.tables.log import snapshot

    since, until = _fill(parts.tables(), options["annotations"], options["delta"])
    session = connect(LOCAL)
    found = snapshot(parts.tables())
    filters: dict[str, dict[str, float | int]] = {}
    for name, text in FILTERS.items():
        plan = compile_filter(text, Context("terry"))
        window = Subscription(1, plan, ("public",), since)

        def over_the_window(engine: Engine, window: Subscription = window) -> int:
            return len(execute(engine, [window], until, lambda pairs: set()))

        def of_all(engine: Engine, window: Subscription = window) -> int:
            return len(answer(engine, lower_at(groups([(window, BEGINNING)]), until)))

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
        "incremental_ms": round(sum(each["incremental_ms"] for each in filters.values()), 1),
        "full_ms": round(sum(each["full_ms"] for each in filters.values()), 1),
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


def _fill(tables: Tables, annotations: int, delta: int) -> tuple[int, int]:
    """Write messages with about EACH votes each, then the new votes on the first 50 of them."""
    from tapestry.core.message import Annotation, Message
    from tapestry.core.schema import ANNOTATIONS, MESSAGES
    from tapestry.tables.index import extend
    from tapestry.tables.rows import to_arrow

    chance = random.Random(7)
    messages = max(annotations // EACH, 1)
    mail = [Message(msgid=f"m{n}@x.org", sender=f"p{n % 50}@x.org") for n in range(messages)]
    _write(tables, MESSAGES, to_arrow(MESSAGES, mail), [BEGIN] * messages)

    def vote(number: int, msgid: str) -> Annotation:
        owner = f"u{chance.randrange(5 * EACH)}"
        value = 1.0 if chance.random() < 0.55 else -1.0
        return Annotation(f"a{number}", msgid, owner, "vote", number=value)

    for low in range(0, annotations, FILE):
        numbers = range(low, min(low + FILE, annotations))
        votes = [vote(n, f"m{n % messages}@x.org") for n in numbers]
        _write(
            tables, ANNOTATIONS, to_arrow(ANNOTATIONS, votes), [BEGIN + n * SECOND for n in numbers]
        )
    since = BEGIN + annotations * SECOND
    numbers = range(annotations, annotations + delta)
    votes = [vote(n, f"m{n % min(50, messages)}@x.org") for n in numbers]
    new = [since + (n + 1) * SECOND for n in range(delta)]
    _write(tables, ANNOTATIONS, to_arrow(ANNOTATIONS, votes), new)
    for table in (MESSAGES, ANNOTATIONS):
        extend(tables, table)
    return since, new[-1]


def _write(tables: Tables, table: str, rows: Any, instants: list[int]) -> None:
    import pyarrow as pa
    from deltalake import write_deltalake

    from tapestry.tables.append import WRITER

    place = rows.schema.get_field_index("ts")
    stamps = pa.array(instants, type=pa.int64())
    dated = rows.set_column(place, rows.schema.field(place), stamps)
    write_deltalake(tables.open(table), dated, mode="append", writer_properties=WRITER)
