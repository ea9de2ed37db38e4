"""``flags`` of originals: kept with the message."""

from __future__ import annotations

from pathlib import Path

from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import copies
from tapestry.tables.read.originals import Original, original
from tapestry.tables.write.append import append_messages
from tests.support.clocks import MemoryClock

FLAGGED = Original(b"Subject: new", ("no date",), ("\\Flagged", "todo"))
OLD = Original(b"Subject: old", ("no date",))


def append(tables: Tables, msgid: str, kept: Original) -> None:
    mail = [Message(msgid, audience="user:alice")]
    append_messages(tables, MemoryClock(), mail, originals=[kept])


def kept(tables: Tables, msgid: str) -> Original | None:
    [copy] = copies(tables, msgid, ["user:alice"])
    return original(tables, msgid, copy)


def test_flags_are_kept_with_their_message(tmp_path: Path) -> None:
    tables = Tables(tmp_path)
    append(tables, "1@x", FLAGGED)
    append(tables, "2@x", OLD)
    assert (kept(tables, "1@x"), kept(tables, "2@x")) == (FLAGGED, OLD)
