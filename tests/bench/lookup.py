"""How long it takes to find messages by their keys, in a table of any size."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from typing import Any

from filters.site.work.parts import services
from tapestry.core.clock import MINUTE
from tapestry.core.message import PUBLIC
from tapestry.core.schema import MESSAGES
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.find import by_time
from tapestry.tables.read.messages import lookup, message
from tapestry.tables.rows import arrow_schema
from tapestry.tables.write.deduplicate import new_keys
from tests.bench.support import mail
from tests.bench.support.timing import timed, warm_median_ms

SUMMARY = "a message by its Message-ID; 1,000 parents, their replies, new and old"

FIGURES = {
    "find a message by Message-ID, of {messages:,}": "{message_ms:.0f} ms",
    "find the parents of the {batch:,} newest replies, of {messages:,}": "{parents_ms:.0f} ms",
    "find the parents of any {batch:,} messages, however old, of {messages:,}": (
        "{parents_of_any_age_ms:.0f} ms"
    ),
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--messages", type=int, default=380_000, help="in the table")
    parser.add_argument("--batch", type=int, default=1000, help="messages looked up together")
    parser.add_argument("--repeat", type=int, default=31, help="measured lookups of each kind")


def measure(options: dict[str, Any]) -> dict[str, float | int | str]:
    """Return median milliseconds: of one message, and of batches by parent and by reply."""
    count, batch, repeat = options["messages"], options["batch"], options["repeat"]
    tables, public = services.tables(), (PUBLIC,)
    filled, _ = timed(lambda: mail.fill(tables, count, 500))

    def cards(column: str, msgids: Sequence[str]) -> int:
        columns = ("msgid", "ts", "audience", "inreplyto", "subject")
        return len(lookup(tables, MESSAGES, column, msgids, public, columns))

    recent = _parents(tables, batch)
    old = mail.parents(0, count, batch)
    single = mail.parents(0, count, repeat + 2)
    schema = arrow_schema(MESSAGES).empty_table().select(["msgid", "audience"])
    new = schema.from_pydict(
        {"msgid": [f"new{n}@example.org" for n in range(batch)], "audience": [PUBLIC] * batch}
    )

    def new_rows() -> int:
        keys = new_keys(tables.data_files(MESSAGES), MESSAGES, new, tables.root)
        return sum(key is not None for key in keys)

    def median_ms(run: Callable[[], object]) -> float:
        def checked() -> None:
            if not run():
                raise ValueError("nothing was found")

        return warm_median_ms([checked] * (repeat + 2))

    return {
        "messages": count,
        "message_ms": median_ms(lambda: message(tables, single.pop(), public)),
        "batch": len(recent),
        "parents_ms": median_ms(lambda: cards("msgid", recent)),
        "parents_of_any_age_ms": median_ms(lambda: cards("msgid", old)),
        "replies_ms": median_ms(lambda: cards("inreplyto", recent)),
        "unseen_ms": median_ms(new_rows),
        "filled_s": round(filled, 1),
    }


def _parents(tables: Tables, batch: int) -> list[str]:
    """Return the parents of the newest replies."""
    log = tables.data_files(MESSAGES)
    high = max(file.max_ts for file in log)
    rows = by_time(log, MESSAGES, [(high - 10 * batch * MINUTE, high)], ["inreplyto", "ts"])
    assert rows is not None
    parents = rows.sort_by("ts")["inreplyto"].drop_null().to_pylist()
    return list(dict.fromkeys(reversed(parents)))[:batch]
