"""Threads and sequences in the first 75 messages of a real list, counted by hand.

Counted by reading their headers alone, in the order of the archive: who wrote when, and in answer
to what.  Six answer mail that is not there.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tapestry.core.message import PUBLIC
from tapestry.core.schema import COLUMNS, MESSAGES
from tapestry.ingest.archive.mbox import entries, open_archive
from tapestry.ingest.parse import parse
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tests.laws import filter_laws
from tests.support.generators.random_worlds import World

FIRST = 75
KURT = "kurt.hornik@ci.tuwien.ac.at"


@pytest.fixture(scope="module")
def rows(shared_mail: Path) -> list[dict[str, Any]]:
    """Return the messages, each of which came as it was received."""
    with open_archive(shared_mail / "r-devel" / "1997.mbox.gz") as stream:
        messages = [parse(entry.raw).message for entry in islice(entries(stream), FIRST)]
    known = [name for name in COLUMNS[MESSAGES] if name not in ("ts", "audience")]
    return [
        {name: getattr(message, name) for name in known if hasattr(message, name)}
        | {"ts": message.received, "audience": PUBLIC}
        for message in messages
    ]


COUNTED = {
    "in a thread of more than three": "8 9 14 16 17 30 31 34 33 35 36 39",
    "starting a thread of more than two": "10 13 17 33 41 50 58",
    "in a thread of more than two people": "8 9 14 16 17 30 31 34 50 51 52 67 68 69",
    "in a thread with luke": "70 72",
    "in a thread begun by p.dalgaard": "10 24 25 29 49 54 62 63",
    "in a thread after a message by ihaka": "6 28 32 34 42 43 51 52",
    f"below a message by {KURT}": "15 19 25 48 52 59 64 68 69",
    "m.depth >= 2": "14 16 19 25 31 34 36 39 43 52 64",
    "replied to within one hour": "0 8 24 26 33 35 41 47 51 62 67",
    "with no reply within three hours and replied to": "5 9 10 13 15 17 27 30 31 42 50 53 57 70",
    "replies numbered two": "16 39 69",
    "replies following a pause of three hours": "16",
    "breaking a silence of five days": "19 24 30",
    "asking again after a reply": "64",
    "SEQ(q THEN r THEN m: r.inreplyto = q.msgid AND m.inreplyto = r.msgid"
    " AND m.sender = q.sender AND r.sender <> m.sender)": "19 25 34 39 43 64",
    f"with more than half of the replies by {KURT}": "0 10 15 27 50 53 57 59 62 70",
    "from new senders": "0 1 4 8 10 46 53 68 70 71",
}
"""Filters, and the places in the archive of what they find."""


@pytest.mark.parametrize(("text", "places"), COUNTED.items())
def test_what_is_found_in_real_mail_was_counted_by_hand(
    rows: list[dict[str, Any]], text: str, places: str
) -> None:
    data = {MESSAGES: rows, "annotations": []}
    instants = [row["ts"] for row in rows]
    schedule = (instants[30], max(instants) + 10**12)
    runs = filter_laws.run(World(read(text, Context()), data, (PUBLIC,), schedule, None))
    found = {match.msgid for matches in runs for match in matches}
    number = {row["msgid"]: place for place, row in enumerate(rows)}
    assert sorted(number[msgid] for msgid in found) == sorted(map(int, places.split()))
