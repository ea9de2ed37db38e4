"""Forgetting: somebody's rows are gone from every file, and nobody else's."""

from __future__ import annotations

import shutil
from contextlib import contextmanager

import pyarrow.parquet as pq
import pytest

from tapestry.core.message import Annotation, Message
from tapestry.tables.delta.log import Tables, snapshot
from tapestry.tables.forget import forget as forget_module
from tapestry.tables.forget.forget import forget
from tapestry.tables.keys.hash_runs import extend_index
from tapestry.tables.read.messages import copies, message
from tapestry.tables.read.originals import Original, original
from tapestry.tables.write.append import Cursor, append_annotations, append_messages, cursor_of
from tapestry.tables.write.compact import compact
from tests.support.clocks import MemoryClock

MINE, THEIRS = "user:joe", "public"
EVERYBODY = (MINE, THEIRS)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    root = tmp_path_factory.mktemp("built") / "tables"
    tables, clock = Tables(root), MemoryClock()
    for n in range(8):
        some = [
            Message(f"mine{n}", body="a secret", audience=MINE),
            Message(f"theirs{n}", body="no secret"),
        ]
        raws = [Original(b"a secret"), Original(b"no secret")]
        append_messages(
            tables, clock, some, Cursor("s", n), now=lambda n=n: 100 * n, originals=raws
        )
        note = Annotation(f"a{n}", f"mine{n}", "joe", "note", "a secret", audience=MINE)
        append_annotations(tables, clock, [note], now=lambda n=n: 100 * n + 50)
        if n == 4:
            compact(tables)
    extend_index(tables, "messages")
    return root


@pytest.fixture
def tables(built, tmp_path):
    shutil.copytree(built, tmp_path / "tables")
    return Tables(tmp_path / "tables")


def rows_on_disk(tables):
    found = []
    for path in tables.root.rglob("*.parquet"):
        if not {"_delta_log", "_delta_log_mirror"} & {*path.parts}:
            found += pq.read_table(path, columns=["audience", "ts"]).to_pylist()
    return found


def test_what_is_forgotten_is_in_no_file_and_no_entry_of_the_log(tables):
    forgotten = forget(tables, MemoryClock(), MINE)
    assert forgotten.rows == {"messages": 8, "annotations": 8, "originals": 8, "threads": 8}
    assert forgotten.keys == {f"{kind}{n}" for kind in ("mine", "a") for n in range(8)}
    assert {row["audience"] for row in rows_on_disk(tables)} == {THEIRS}
    for path in (*tables.root.rglob("_delta_log/*"), *tables.root.rglob("_delta_log_mirror/*")):
        assert b"mine" not in path.read_bytes()
    assert message(tables, "mine3", EVERYBODY) is None


def test_the_mail_of_others_and_cursors_stay_as_they_were(tables):
    before = message(tables, "theirs3", EVERYBODY)
    forget(tables, MemoryClock(), MINE)
    assert message(tables, "theirs3", EVERYBODY) == before
    assert original(tables, "theirs3", *copies(tables, "theirs3", EVERYBODY)).raw == b"no secret"
    assert sum(part.rows for part in snapshot(tables).messages) == 8
    assert cursor_of(tables, "s") == Cursor("s", 7)
    clock, known = MemoryClock(), Message("theirs3", body="no secret")
    assert append_messages(tables, clock, [known, Message("new")]).added == 1


def test_only_what_is_older_goes_if_one_says_so(tables):
    forgotten = forget(tables, MemoryClock(), MINE, before=400)
    assert forgotten.rows == {"messages": 4, "annotations": 4, "originals": 4, "threads": 4}
    kept = [n for n in range(8) if message(tables, f"mine{n}", EVERYBODY)]
    assert kept == [4, 5, 6, 7]


def test_what_went_for_its_age_is_not_taken_in_again(tables):
    some = [Message(f"mine{n}", body="a secret", audience=MINE) for n in range(9)]
    for before in (200, 300, 400, 500):
        forget(tables, MemoryClock(), MINE, before)
    assert append_messages(tables, MemoryClock(), some).added == 1
    assert [n for n in range(9) if message(tables, f"mine{n}", EVERYBODY)] == [5, 6, 7, 8]
    assert append_messages(tables, MemoryClock(), [Message("mine3"), Message("mine4")]).added == 2


def test_what_was_forgotten_as_a_whole_may_come_again(tables):
    forget(tables, MemoryClock(), MINE, before=400)
    forget(tables, MemoryClock(), MINE)
    assert append_messages(tables, MemoryClock(), [Message("mine2", audience=MINE)]).added == 1
    assert not list((tables.root / "removed").rglob("*.sorted"))


def test_a_run_that_dies_while_it_forgets_old_mail_lets_nothing_come_twice(tables, monkeypatch):
    def die(*_):
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr("tapestry.tables.forget.forget.commit_rewritten", die)
        with pytest.raises(RuntimeError):
            forget(tables, MemoryClock(), MINE, before=400)
    assert message(tables, "mine3", EVERYBODY)
    forget(tables, MemoryClock(), MINE, before=400)
    assert append_messages(tables, MemoryClock(), [Message("mine3", audience=MINE)]).added == 0


def test_a_reader_of_an_older_version_is_not_disturbed_by_retention(tables):
    before = snapshot(tables)
    forget(tables, MemoryClock(), MINE, before=400)
    assert sum(pq.read_table(part.path).num_rows for part in before.messages) == 16


def test_to_forget_somebody_unheard_of_changes_nothing(tables):
    before = snapshot(tables)
    assert not any(forget(tables, MemoryClock(), "user:nobody").rows.values())
    assert snapshot(tables) == before


def test_what_is_appended_while_files_are_rewritten_is_forgotten(tables):
    """And others are kept out only while the rows go."""
    steps = []

    @contextmanager
    def alone():
        append_messages(tables, MemoryClock(), [Message("late", audience=MINE), Message("other")])
        stored = {row["msgid"] for row in rows_of(tables)}
        assert "mine3" in stored, "nothing is gone yet"
        steps.append("begin")
        yield
        steps.append("end")

    def then(gone):
        assert {"mine3", "late"} <= gone.keys
        assert not any(row["audience"] == MINE for row in rows_of(tables))
        assert MINE in {row["audience"] for row in rows_on_disk(tables)}, "files are deleted later"
        steps.append("told")

    forget(tables, MemoryClock(), MINE, None, alone, then)
    assert steps == ["begin", "told", "end"]
    assert MINE not in {row["audience"] for row in rows_on_disk(tables)}
    assert message(tables, "other", EVERYBODY)


def rows_of(tables):
    return tables.open("messages").to_pyarrow_table(columns=["msgid", "audience"]).to_pylist()


def test_nothing_is_gone_if_nobody_can_be_kept_out(tables):
    def refuse():
        raise RuntimeError

    before = sorted(path.name for path in tables.root.rglob("*.parquet"))
    with pytest.raises(RuntimeError):
        forget(tables, MemoryClock(), MINE, None, refuse)
    assert message(tables, "mine3", EVERYBODY)
    assert sorted(path.name for path in tables.root.rglob("*.parquet")) == before


def test_the_index_is_made_anew_by_the_next_call_where_one_died_before(tables, monkeypatch):
    with monkeypatch.context() as broken, pytest.raises(RuntimeError):
        broken.setattr(forget_module, "extend_index", away)
        forget(tables, MemoryClock(), MINE)
    made = []
    monkeypatch.setattr(forget_module, "extend_index", lambda _tables, table: made.append(table))
    assert forget(tables, MemoryClock(), MINE).is_any
    assert sorted(made) == ["annotations", "messages", "threads"]


def away(*_):
    raise RuntimeError


def test_the_keys_of_a_removal_that_did_not_end_are_mended_from_their_mirror(tables):
    with pytest.raises(RuntimeError):
        forget(tables, MemoryClock(), MINE, then=away)
    (path,) = (tables.root / "forgetting").iterdir()
    path.write_bytes(b"")
    keys = {f"{name}{n}" for name in ("mine", "a") for n in range(8)}
    assert forget(tables, MemoryClock(), MINE).keys == keys


@pytest.mark.parametrize("fails", ["commit", "then"])
def test_what_nobody_was_told_is_told_by_the_next_call(tables, monkeypatch, fails):
    reports = []

    with monkeypatch.context() as broken, pytest.raises(RuntimeError):
        if fails == "commit":
            broken.setattr(forget_module, "delete_tombstones", away)
        forget(tables, MemoryClock(), MINE, then=away if fails == "then" else reports.append)
    assert forget(tables, MemoryClock(), THEIRS + "x", then=reports.append).keys == frozenset()
    gone = forget(tables, MemoryClock(), MINE, then=reports.append)
    assert reports[-1] == gone and gone.is_any and not any(gone.rows.values())
    assert gone.keys == {f"{name}{n}" for name in ("mine", "a") for n in range(8)}
    assert not forget(tables, MemoryClock(), MINE, then=reports.append).is_any
    assert not list(tables.root.glob("forgetting*/*")), "nor is it kept in a mirror"
