"""How long every phrase of the catalogue takes over an archive: what matches now, and so far.

`search` is what a page of search waits for: all that matches now, by ``received``.

The archive is compacted first, as upkeep leaves it.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from filters.runs.store.filter_store import DjangoClock
from filters.site.work.parts import services
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.message import PUBLIC, Annotation
from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.tables.delta.log import snapshot
from tapestry.tables.write.compact import compact
from tests.bench.support import votes
from tests.bench.support.timing import median_ms, timed

SUMMARY = "every phrase of the catalogue over an archive: `ask`, previews and searches"

FIGURES = {
    "`ask` a phrase of the catalogue, of {messages:,} messages": ("{ask_at_most}, “{slowest_ask}”"),
    "preview a phrase of the catalogue, of {messages:,} messages": (
        "{preview_at_most}, “{slowest_preview}”"
    ),
    "search for a phrase of the catalogue, of {messages:,} messages": (
        "{search_at_most}, “{slowest_search}”"
    ),
}

VOTERS = 8


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--mbox", metavar="WHAT", action="append", default=[], help="anything `ingest` takes in"
    )
    parser.add_argument("--messages", type=int, default=60_000, help="generated, without --mbox")
    parser.add_argument("--repeat", type=int, default=3, help="measured runs of each phrase")
    parser.add_argument("--most-seconds", type=int, default=60, help="after which one is given up")
    parser.add_argument("--only", default="", help="phrases that contain these words")


def measure(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the median milliseconds of each phrase, None if it was given up."""
    from tapestry.spark import server

    with server.serving(services.data() / "run", server.JVM_OPTIONS) as remote:
        return _measure(options, remote)


def _measure(options: Mapping[str, Any], remote: str) -> dict[str, Any]:
    from tapestry.embedded.engine import EmbeddedEngine
    from tapestry.plan.engine import Engine
    from tapestry.query.context import Context
    from tapestry.query.phrases.catalogue import KINDS
    from tapestry.run.ask import Question, ask, find
    from tapestry.spark.engine import SparkEngine
    from tapestry.spark.session import connect
    from tapestry.tables.delta.log import Snapshot
    from tests.bench.support import mail
    from tests.support.intake import ingest

    tables = services.tables()
    for what in options["mbox"]:
        ingest(what, tables, DjangoClock())
    if options["mbox"]:
        compact(tables, keep_hours=0)
    else:
        mail.fill(tables, options["messages"], 1)
    _vote()
    session = connect(remote)
    context = Context("terry", ("terry@example.org",), lambda owner, name: "about release")

    def engine_on(seen: Snapshot) -> Engine:
        spark = SparkEngine(session, seen)
        spark.most_seconds = options["most_seconds"]
        return EmbeddedEngine(spark.local_rows, lambda: spark)

    def milliseconds(run: Callable[[], object]) -> float | None:
        try:
            run()
            return median_ms([timed(run)[0] for _ in range(options["repeat"])])
        except TapestryError as error:
            print(f"  {error.message}", file=sys.stderr, flush=True)
            return None

    phrases: dict[str, dict[str, Any]] = {}
    for kind in KINDS.values():
        if options["only"] not in kind.example:
            continue
        question = Question(kind.example, context, (PUBLIC,), wall_clock())
        so_far = replace(question, so_far=True)
        phrases[kind.example] = {
            "ask_ms": milliseconds(partial(ask, engine_on, tables, question, 10)),
            "preview_ms": milliseconds(partial(ask, engine_on, tables, so_far, 10)),
            "search_ms": milliseconds(partial(find, engine_on, tables, question)),
        }
        print(f"{kind.example}: {phrases[kind.example]}", file=sys.stderr, flush=True)
    figures: dict[str, Any] = {
        "messages": sum(file.rows for file in snapshot(tables).data_files(MESSAGES)),
        "phrases": phrases,
    }
    for what in ("ask", "preview", "search"):
        times = {phrase: times[f"{what}_ms"] for phrase, times in phrases.items()}
        slowest = max(times, key=lambda phrase: times[phrase] or float("inf"))
        longest = times[slowest]
        at_most = (
            f"given up after {options['most_seconds']} s"
            if longest is None
            else f"at most {longest:.0f} ms"
        )
        figures |= {
            f"slowest_{what}": slowest,
            f"slowest_{what}_ms": longest,
            f"{what}_at_most": at_most,
        }
    return figures


def _vote() -> None:
    """Have people vote for every tenth message: so many as to be among the fewest or the most."""
    tables = services.tables()
    rows = tables.open(MESSAGES).to_pyarrow_table(columns=["msgid", "ts"]).to_pylist()
    given = [
        Annotation(f"v{number}-{voter}", msgid, f"voter{voter}", "vote", None, 1.0)
        for number, msgid in enumerate(row["msgid"] for row in rows[::10])
        for voter in range(number % (VOTERS + 1))
    ]
    last = max(row["ts"] for row in rows)
    votes.append_dated(tables, ANNOTATIONS, given, [last + n for n, _ in enumerate(given)])
