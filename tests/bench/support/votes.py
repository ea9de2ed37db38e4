"""A table of votes of any size, and new votes after it; rows that have a ``ts`` given."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

from tapestry.core.clock import SECOND
from tapestry.core.message import Annotation, Message
from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.tables.delta.commit import commit
from tapestry.tables.delta.log import Tables
from tapestry.tables.keys.hash_runs import extend_index
from tapestry.tables.rows import dated, to_arrow

VOTES = 1000
"""Votes on a message."""

CURRENT = 50
"""Messages that are voted on at a time; the oldest of them is replaced in turn."""

BEGIN = 1_700_000_000 * SECOND
INTERVAL = 26 * SECOND
"""Between two votes, so that a message is voted on for about two weeks."""

FILE = 250_000


def fill(tables: Tables, annotations: int, delta: int) -> tuple[int, int]:
    """Write messages with about VOTES votes each, then the new votes; return the window of these.

    Every vote is on one of the CURRENT messages that were voted on at its time.
    """
    chance = random.Random(7)
    messages = max((annotations + delta) // VOTES, CURRENT)
    mail = [Message(msgid=f"m{n}@x.org", sender=f"p{n % 50}@x.org") for n in range(messages)]
    append_dated(tables, MESSAGES, mail, [BEGIN] * messages)

    def vote(number: int) -> Annotation:
        owner = f"u{chance.randrange(5 * VOTES)}"
        value = 1.0 if chance.random() < 0.55 else -1.0
        newest = min(number // VOTES, messages - 1)
        voted_on = newest - chance.randrange(min(CURRENT, newest + 1))
        return Annotation(f"a{number}", f"m{voted_on}@x.org", owner, "vote", None, value)

    for low, high in pairwise([*range(0, annotations, FILE), annotations, annotations + delta]):
        ts = [_arrival(number) for number in range(low, high)]
        append_dated(tables, ANNOTATIONS, [vote(number) for number in range(low, high)], ts)
    for table in (MESSAGES, ANNOTATIONS):
        extend_index(tables, table)
    return _arrival(annotations - 1), _arrival(annotations + delta - 1)


def _arrival(number: int) -> int:
    return BEGIN + (number + 1) * INTERVAL


def append_dated(
    tables: Tables, table: str, rows: Sequence[Message] | Sequence[Annotation], ts: Sequence[int]
) -> None:
    """Append rows with a given ``ts`` each, as one file."""
    commit(tables, table, dated(to_arrow(table, rows), ts), {}, {})
