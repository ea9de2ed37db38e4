"""What an append costs in logs of few and of many data files."""

from __future__ import annotations

import statistics
import time
from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import Any

from filters.runs.store.filter_store import DjangoClock
from filters.site.work.parts import services
from tapestry.core.clock import MINUTE
from tapestry.core.message import Message
from tapestry.core.schema import MESSAGES
from tapestry.tables.delta.commit import checkpoint_if_due, commit
from tapestry.tables.delta.log import Tables
from tapestry.tables.keys.hash_runs import extend_index
from tapestry.tables.read.originals import Original, originals_to_arrow
from tapestry.tables.rows import ORIGINALS, stamped, to_arrow
from tapestry.tables.write.append import Cursor, append_messages
from tests.bench.support.timing import median_ms, timed

SUMMARY = "an append to a log of few and of many data files"

FIGURES = {
    "append {batch} messages to a log of {fewest_files:,} files; of {most_files:,} files": (
        "{fewest_cpu_ms:.0f} ms; {most_cpu_ms:.0f} ms of the processor"
    ),
}

_BEGIN = 1_400_000_000_000_000
_LETTER = b"Subject: text\n\ntext"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--files", default="10,1000,10000", metavar="N,…", help="in each log")
    parser.add_argument("--batch", type=int, default=10, help="messages of an append")
    parser.add_argument("--repeat", type=int, default=200, help="measured appends to each log")


def measure(options: dict[str, Any]) -> dict[str, Any]:
    """Return the median milliseconds of an append to each log, and the mean of the processor's.

    The logs take turns, so that what else the machine does slows all of them.  The mean has its
    share of the work that only some appends do: the index, checkpoints.
    """
    sizes = sorted(int(size) for size in options["files"].split(","))
    logs = [Tables(Path(services.data()) / f"append-{size}") for size in sizes]
    begin = time.perf_counter()
    for tables, size in zip(logs, sizes, strict=True):
        _fill(tables, size)
    filled = time.perf_counter() - begin
    wall: list[list[float]] = [[] for _ in sizes]
    cpu: list[list[float]] = [[] for _ in sizes]
    for turn in range(options["repeat"] + 2):
        for number, tables in enumerate(logs):
            before = time.process_time()
            wall[number].append(timed(partial(_append, tables, turn, options["batch"]))[0])
            cpu[number].append(time.process_time() - before)
    medians = [median_ms(seconds[2:]) for seconds in wall]
    means = [round(1000 * statistics.mean(seconds[2:]), 1) for seconds in cpu]
    return {
        "files": sizes,
        "batch": options["batch"],
        "append_ms": medians,
        "append_cpu_ms": means,
        "ratio": round(medians[-1] / medians[0], 2),
        "cpu_ratio": round(means[-1] / means[0], 2),
        "fewest_files": sizes[0],
        "fewest_cpu_ms": means[0],
        "most_files": sizes[-1],
        "most_cpu_ms": means[-1],
        "filled_s": round(filled, 1),
    }


def _append(tables: Tables, turn: int, count: int) -> None:
    """Append new messages, which reply to old ones, as a source does."""
    messages = [
        Message(f"new{turn}.{n}@x.org", inreplyto=f"m{n}@x.org", body="text") for n in range(count)
    ]
    originals = [Original(_LETTER)] * count
    append_messages(tables, DjangoClock(), messages, Cursor("bench", turn + 1), originals=originals)


def _fill(tables: Tables, files: int) -> None:
    """Write a log of so many data files, each an append of one message, and index it."""
    for number in range(files):
        rows = stamped(
            MESSAGES,
            to_arrow(MESSAGES, [Message(f"m{number}@x.org", body="text")]),
            _BEGIN + number * MINUTE,
        )
        commit(tables, ORIGINALS, originals_to_arrow(rows, [Original(_LETTER)]), {}, {})
        commit(tables, MESSAGES, rows, {}, {})
        for table in (ORIGINALS, MESSAGES):
            checkpoint_if_due(tables, table)
    extend_index(tables, MESSAGES)
