"""How long it takes to find messages by their keys, in a table of any size."""

from __future__ import annotations

import statistics
import time
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from typing import Any

SUMMARY = "a message by its Message-ID; 1,000 parents, their replies, new and old"

FIGURES = {
    "find a message by Message-ID, of {messages:,}": "{message_ms:.0f} ms",
    "find the parents of the {batch:,} newest replies, of {messages:,}": "{parents_ms:.0f} ms",
    "find the parents of any {batch:,} messages, however old, of {messages:,}": (
        "{parents_of_any_age_ms:.0f} ms"
    ),
}


def add_arguments(parser: ArgumentParser) -> None:
    """Declare --messages, --batch and --repeat."""
    parser.add_argument("--messages", type=int, default=380_000, help="in the table")
    parser.add_argument("--batch", type=int, default=1000, help="messages looked up together")
    parser.add_argument("--repeat", type=int, default=31, help="measured lookups of each kind")


def measure(options: Mapping[str, Any]) -> dict[str, float | int | str]:
    """Return median milliseconds: of one message, and of batches by parent and by reply."""
    from filters.bench.support import mail
    from filters.runtime import services
    from tapestry.core.schema import MESSAGES
    from tapestry.tables.deduplicate import new_row_mask
    from tapestry.tables.log import data_files_of
    from tapestry.tables.read import lookup, message
    from tapestry.tables.rows import arrow_schema

    count, batch, repeat = options["messages"], options["batch"], options["repeat"]
    tables, public = services.tables(), ("public",)
    begun = time.perf_counter()
    mail.fill(tables, count, 500)
    filled = time.perf_counter() - begun

    def cards(column: str, msgids: Sequence[str]) -> int:
        log = data_files_of(tables.open(MESSAGES))
        columns = ("msgid", "ts", "audience", "inreplyto", "subject")
        found = lookup(log, MESSAGES, column, msgids, public, columns, root=tables.root)
        return len(found)

    recent = _parents(tables, batch)
    old = mail.parents(0, count, batch)
    single = mail.parents(0, count, repeat + 2)

    def one_message() -> int:
        return int(message(tables, single.pop(), public) is not None)

    empty = arrow_schema(MESSAGES).empty_table().select(["msgid", "audience"])
    new = empty.from_pydict(
        {"msgid": [f"new{n}@example.org" for n in range(batch)], "audience": ["public"] * batch}
    )
    return {
        "messages": count,
        "message_ms": _median_ms(one_message, repeat),
        "batch": len(recent),
        "parents_ms": _median_ms(lambda: cards("msgid", recent), repeat),
        "parents_of_any_age_ms": _median_ms(lambda: cards("msgid", old), repeat),
        "replies_ms": _median_ms(lambda: cards("inreplyto", recent), repeat),
        "unseen_ms": _median_ms(
            lambda: new_row_mask(tables.open(MESSAGES), MESSAGES, new, tables.root).true_count,
            repeat,
        ),
        "filled_s": round(filled, 1),
    }


def _parents(tables: Any, batch: int) -> list[str]:
    """Return the parents of the newest replies."""
    from tapestry.core.schema import MESSAGES
    from tapestry.tables.find import by_time
    from tapestry.tables.log import data_files_of

    log = data_files_of(tables.open(MESSAGES))
    high = max(part.max_ts for part in log)
    rows = by_time(log, MESSAGES, [(high - 10 * batch * 60_000_000, high)], ["inreplyto", "ts"])
    assert rows is not None
    named = rows.sort_by("ts")["inreplyto"].drop_null().to_pylist()
    return list(dict.fromkeys(reversed(named)))[:batch]


def _median_ms(run: Callable[[], int], repeat: int) -> float:
    seconds = []
    for _ in range(repeat + 2):
        begun = time.perf_counter()
        if not run():
            raise ValueError("nothing was found")
        seconds.append(time.perf_counter() - begun)
    return round(1000 * statistics.median(seconds[2:]), 1)
