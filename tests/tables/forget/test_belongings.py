"""All rows of an audience, over files and row groups, with the originals that are kept."""

from __future__ import annotations

from tapestry.core.message import Annotation, Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.forget.belongings import annotations_by, messages_of
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import append_annotations, append_messages
from tests.support.clocks import MemoryClock

OURS, OTHERS = "user:terry", ("public", "group:parc", "user:terryx")


def test_messages_of_several_files_come_with_their_originals(tmp_path) -> None:
    tables, clock = Tables(tmp_path), MemoryClock()
    for batch in range(2):
        mine = [Message(f"{batch}-{n}@x", body=str(n), audience=OURS) for n in range(150)]
        theirs = [Message(f"{batch}@x", body="no", audience=audience) for audience in OTHERS]
        rows = [*mine, *theirs]
        originals = [Original(row.msgid.encode() if batch else b"") for row in rows]
        append_messages(tables, clock, rows, originals=originals)
    found = {row.message.msgid: (row.message, raw) for row, raw in messages_of(tables, OURS)}
    assert len(found) == 300 and {message.audience for message, _ in found.values()} == {OURS}
    assert found["0-7@x"][1] is None and found["1-7@x"][1] == b"1-7@x"
    assert sum(1 for _ in messages_of(tables, OURS)) == 300
    assert list(messages_of(tables, "user:nobody")) == []


def test_annotations_are_those_they_made_and_those_only_they_see(tmp_path) -> None:
    tables, clock = Tables(tmp_path), MemoryClock()
    rows = [
        Annotation("a", "m", "terry", "tag", "public"),
        Annotation("b", "m", "terry", "tag", "private", audience=OURS),
        Annotation("c", "m", "bob", "tag", "to terry", audience=OURS),
        Annotation("d", "m", "bob", "tag", "public"),
        Annotation("e", "m", "bob", "tag", "group", audience="group:parc"),
    ]
    append_annotations(tables, clock, rows)
    found = [row.annotation.annid for row in annotations_by(tables, "terry", OURS)]
    assert sorted(found) == ["a", "b", "c"]
