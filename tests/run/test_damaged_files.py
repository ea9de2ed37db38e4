"""What a run does where a file is damaged: the predicate index is made anew, the rest is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapestry.core.files.damage import DamagedFileError
from tapestry.core.message import Message
from tapestry.embedded.engine import EmbeddedEngine
from tapestry.embedded.local_rows import LocalRows
from tapestry.predicate_index import files as stored_files
from tapestry.predicate_index import store as index_store
from tapestry.run.resources import Resources
from tapestry.run.tick import tick
from tapestry.tables.delta import parquet_file
from tapestry.tables.delta.log import Tables
from tapestry.tables.read import file_facts, find
from tapestry.tables.write.append import append_messages
from tests.support.clocks import MemoryClock
from tests.support.memory_store import MemoryStore


def append(mail, messages):
    tables, clock = mail
    append_messages(tables, clock, messages)


@pytest.fixture
def mail(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    append_messages(tables, clock, [Message("a@x", subject="lunch"), Message("b@x")])
    return tables, clock


def run(mail, store):
    tables, clock = mail
    return tick(
        Resources(lambda seen: EmbeddedEngine(LocalRows(seen), nobody), tables, store), clock
    )


def nobody():
    raise AssertionError("The statement was left to the other engine.")


def forget_what_is_known():
    """Let the next look at a file be that of a new process."""
    parquet_file.parquet_footer.cache_clear()
    for cached in (stored_files._verify, index_store._texts, index_store._offsets):
        cached.cache_clear()
    for cached in (file_facts.facts_of, find._kept):
        cached.cache_clear()


def index_files(root):
    paths = (path for path in (root / "predicate_index").rglob("*") if path.is_file())
    return sorted(path.relative_to(root) for path in paths if "_delta_log_mirror" not in path.parts)


def test_filters_are_entered_again_whichever_file_of_the_index_is_damaged(mail, caplog):
    store = MemoryStore(lunch="about lunch")
    run(mail, store)
    root = mail[0].root
    kinds = len(index_files(root))
    assert kinds == 6, "two tables, each of two entries and a file"
    for number in range(kinds):
        path = root / index_files(root)[number]
        content = bytearray(path.read_bytes())
        content[len(content) // 3] ^= 2
        path.write_bytes(content)
        forget_what_is_known()
        caplog.clear()
        append(mail, [Message(f"c{number}@x", subject="lunch")])
        assert [m.msgid for m in run(mail, store).matches] == [f"c{number}@x"]
        assert store.enrolled_ids == {0} and store.failed == {}
        assert path.name in caplog.text and "damaged" in caplog.text


def test_no_filter_is_blamed_for_a_damaged_file_of_mail_and_the_window_stays(mail):
    store = MemoryStore(lunch="about lunch", join="replies to mary", dinner="about dinner")
    run(mail, store)
    append(mail, [Message("c@x", subject="lunch")])
    newest = Path(mail[0].data_files("messages")[-1].path)
    whole = newest.read_bytes()
    newest.write_bytes(whole[:100])
    forget_what_is_known()
    since = store.shared_since()
    with pytest.raises(DamagedFileError, match=newest.name):
        run(mail, store)
    assert store.failed == {} and store.shared_since() == since
    newest.write_bytes(whole)
    assert [m.msgid for m in run(mail, store).matches] == ["c@x"]
