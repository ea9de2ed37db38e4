"""The law of imports: whatever the batches, filters match what they would of one batch."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from tapestry.core.schema import MESSAGES
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.tables.delta.log import Tables
from tests.support.oracle.queries import Oracle

TEXTS = (
    "with no reply",
    "two weeks old with no reply",
    "with no reply by joe",
    "with no reply for two weeks",
    "starting a thread with no reply",
    "replied to by mary",
    "replies to joe",
    "with more than one reply",
    "starting a thread of more than 2",
    "newer than 3 days",
    "older than 3 weeks",
)
PEOPLE = ("joe", "mary", "bill")


def threads(chance: random.Random, count: int) -> list[bytes]:
    """Return messages in the order of their dates, an answer after what it answers."""
    moment = datetime.now(UTC) - timedelta(days=60)
    made: list[bytes] = []
    for number in range(count):
        moment += timedelta(days=chance.choice([0, 1, 2, 20]), minutes=1)
        parent = chance.randrange(number) if number and chance.random() < 0.7 else None
        answering = "" if parent is None else f"In-Reply-To: <{parent}@x.org>\r\n"
        sender = chance.choice(PEOPLE)
        date = format_datetime(min(moment, datetime.now(UTC)))
        made.append(
            f"Received: from a.org by b.org; {date}\r\nMessage-ID: <{number}@x.org>\r\n"
            f"Subject: hello\r\nFrom: {sender}@x.org\r\nDate: {date}\r\nNewsgroups: comp.misc\r\n"
            f"{answering}\r\nHello\r\n".encode()
        )
    return made


def check(tables: Tables, count: int) -> None:
    """Assert the law for all texts: ``count`` messages are there, each once."""
    rows = tables.open(MESSAGES).to_pyarrow_table().to_pylist()
    assert len(rows) == len({row["msgid"] for row in rows}) == count
    last = max(row["ts"] for row in rows)
    at_once = [row | {"ts": last} for row in rows]
    for text in TEXTS:
        query = read(text, Context())
        found, expected = (
            Oracle(query, {MESSAGES: data, "annotations": []}, ["public"]).ever(last)
            for data in (rows, at_once)
        )
        assert set(found) == set(expected), text
