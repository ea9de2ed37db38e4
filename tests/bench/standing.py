"""Standing queries with joins, absence and time: the benchmark that STANDING.md describes.

The stream, the queries and the answers are made from a seed; ``--out`` writes them for other
systems.  Here all queries are run together, window by window, and some of them one by one; what
they find must be the answers, each pair once with its first instant.
"""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from filters.site.work.parts import services
from tapestry.core.clock import BEGINNING
from tapestry.core.errors import TapestryError
from tapestry.core.message import PUBLIC, Annotation, Message
from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.tables.delta.log import snapshot
from tapestry.tables.keys.hash_runs import extend_index
from tests.bench.support.footprint import cpu_timed
from tests.bench.support.standing import queries as standing
from tests.bench.support.standing.stream import Stream, make_stream
from tests.bench.support.timing import median_ms, timed
from tests.bench.support.votes import append_dated

SUMMARY = "standing queries with joins, absence and time, for any system: STANDING.md"

FIGURES = {
    "{queries:,} standing queries over {messages:,} messages and as many votes": (
        "{pairs:,} pairs, all of them right"
    ),
    "{queries:,} standing queries, {windows} windows: a window, against its queries one by one": (
        "{times_cheaper:,} times cheaper"
    ),
    "{queries:,} standing queries: the slowest of {windows} windows, against the median": (
        "{slowest_ratio:.1f}"
    ),
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=1992)
    parser.add_argument("--queries", type=int, default=9000)
    parser.add_argument("--messages", type=int, default=5000, help="and as many votes")
    parser.add_argument("--different", type=int, help="people, and topics; a tenth of the queries")
    parser.add_argument("--windows", type=int, default=10)
    parser.add_argument("--alone", type=int, default=18, help="queries that run one by one, too")
    parser.add_argument("--out", type=Path, metavar="DIR", help="only write it all as files")


def measure(options: dict[str, Any]) -> dict[str, Any]:
    """Return the processor time of a window; TapestryError if an answer is not the right one."""
    seed, messages = options["seed"], options["messages"]
    different = options["different"] or max(options["queries"] // 10, 1)
    stream = make_stream(seed, messages, different)
    queries = standing.make_queries(seed, options["queries"], different)
    answering, found = timed(lambda: list(standing.answers(stream, queries)))
    figures = {
        "queries": len(queries),
        "messages": messages,
        "different": different,
        "pairs": len(found),
        "answers_seconds": round(answering, 3),
    }
    if options["out"]:
        standing.write(options["out"], stream, queries, found)
        return figures
    return figures | _run(stream, queries, set(found), options)


def _run(
    stream: Stream,
    queries: list[standing.Query],
    right: set[standing.Answer],
    options: dict[str, Any],
) -> dict[str, Any]:
    """Run the queries in windows, together and one by one, and compare what they find."""
    from tapestry.plan.compile import compile_filter
    from tapestry.query.context import Context
    from tapestry.run.execute import Pair, Subscription, execute
    from tests.bench.support.evaluation import engine_on

    fill(stream)
    compiling, subscriptions = timed(
        lambda: [
            Subscription(query.number, compile_filter(query.sql, Context()), (PUBLIC,), BEGINNING)
            for query in queries
        ]
    )
    delivered: set[Pair] = set()

    def run(some: list[Subscription], since: int, until: int) -> set[standing.Answer]:
        engine = engine_on(snapshot(services.tables()))
        moved = [replace(subscription, since=since) for subscription in some]
        matches = execute(engine, moved, until, delivered.__and__)
        return {(match.filter_id, match.msgid, match.matched_at) for match in matches}

    ends = stream.windows(options["windows"])
    together, actual = [], set[standing.Answer]()
    for since, until in pairwise([BEGINNING, *ends]):
        seconds, matches = cpu_timed(partial(run, subscriptions, since, until))
        together.append(seconds)
        actual |= matches
        delivered |= {(number, msgid) for number, msgid, _ in matches}
    if actual != right:
        raise TapestryError(
            f"{len(actual - right)} pairs are too many, {len(right - actual)} are missing: "
            f"{sorted(actual ^ right)[:5]}"
        )
    window = ends[-2], ends[-1]
    alone = [
        cpu_timed(partial(run, [subscription], *window))[0]
        for subscription in subscriptions[: options["alone"]]
    ]
    median = median_ms(together)
    return {
        "windows": len(ends),
        "compile_ms_per_query": round(1000 * compiling / len(queries), 3),
        "window_cpu_ms": median,
        "slowest_ratio": round(1000 * max(together) / median, 2),
        "alone_cpu_ms": median_ms(alone),
        "times_cheaper": round(len(queries) * median_ms(alone) / median),
    }


def fill(stream: Stream) -> None:
    """Write a stream into the tables, and index it."""
    tables = services.tables()
    messages = [
        Message(row.msgid, sender=row.sender, list=row.topic, inreplyto=row.parent)
        for row in stream.messages
    ]
    votes = [
        Annotation(row.annid, row.msgid, row.owner, "vote", number=1.0) for row in stream.votes
    ]
    append_dated(tables, MESSAGES, messages, [row.ts for row in stream.messages])
    append_dated(tables, ANNOTATIONS, votes, [row.ts for row in stream.votes])
    for table in (MESSAGES, ANNOTATIONS):
        extend_index(tables, table)
