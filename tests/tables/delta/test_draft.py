"""A commit cannot be undone by accident: whatever fails after the link, its files are there."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from tapestry.core.message import Message
from tapestry.core.schema import MESSAGES
from tapestry.predicate_index.files import files_of, write_rows
from tapestry.tables.delta.draft import Draft
from tapestry.tables.delta.log import Tables
from tapestry.tables.delta.log_entry import read_entry
from tapestry.tables.delta.log_state import log_state
from tapestry.tables.forget.forget import forget
from tapestry.tables.read.originals import Original
from tapestry.tables.rows import ORIGINALS
from tapestry.tables.write.append import Cursor, append_messages
from tapestry.tables.write.compact import compact
from tapestry.tables.write.publish import publish
from tapestry.tables.write.staging import Staging
from tests.support.clocks import MemoryClock

PARTS = ("delta/draft", "delta/commit")
"""What runs from the link on, beside the file of who commits."""


@contextmanager
def failing(writer: str, point: int) -> Iterator[list[str]]:
    """Raise an error at the so manieth line after a link, up to the end of the draft's block.

    Yield the lines that were reached.
    """
    link, reached = os.link, list[str]()
    is_linked = is_over = False
    traced = tuple(f"{part}.py" for part in (*PARTS, writer))
    is_traced = cache(lambda name: name.endswith(traced))

    def linked(*paths: Path) -> None:
        nonlocal is_linked
        link(*paths)
        is_linked = True

    def trace(frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        name = frame.f_code.co_filename
        if not is_traced(name):
            return None
        nonlocal is_over
        is_over |= is_linked and event == "return" and frame.f_code.co_name == "__exit__"
        place = f"{name}:{frame.f_lineno}"
        if is_linked and not is_over and event == "line" and place not in reached:
            reached.append(place)
            if len(reached) == point:
                raise OSError(errno.EIO, f"planted at {place}")
        return trace

    os.link, before = linked, sys.gettrace()
    sys.settrace(trace)
    try:
        yield reached
    finally:
        sys.settrace(before)
        os.link = link


def append(root: Path, number: int, audience: str = "public") -> None:
    mail = [Message(f"{number}@x", received=number, audience=audience)]
    cursor, raw = Cursor("source", number), [Original(b"%d" % number)]
    append_messages(Tables(root), MemoryClock(), mail, cursor, originals=raw)


def make_mail(root: Path) -> None:
    for number in (1, 2, 3):
        append(root, number)


def make_mail_of_joe(root: Path) -> None:
    make_mail(root)
    append(root, 4, "user:joe")
    compact(Tables(root))


def stage(root: Path) -> None:
    make_mail(root)
    with Staging.opened(Tables(root), "box", "public") as staging:
        for numbers in ((3, 4), (5, 6)):
            mail = [Message(f"{number}@x", received=number) for number in numbers]
            raws = [Original(b"%d" % number) for number in numbers]
            staging.add(mail, raws, Cursor("box", numbers[-1]))


def publish_staged(root: Path) -> None:
    with Staging.opened(Tables(root), "box", "public") as staging:
        if staging.batches():
            publish(staging, MemoryClock(), pause=lambda _: None)


WRITERS: dict[str, tuple[Callable[[Path], Any], Callable[[Path], Any], int]] = {
    "write/append": (make_mail, lambda root: append(root, 4), 4),
    "write/publish": (stage, publish_staged, 6),
    "write/compact": (make_mail, lambda root: compact(Tables(root)), 3),
    "forget/forget": (
        make_mail_of_joe, lambda root: forget(Tables(root), MemoryClock(), "user:joe"), 3),
}  # fmt: skip


REPEATED = ("write/append", "write/publish", "forget/forget")
"""Writers that are called again after an error: what they committed is not there twice."""


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("writer", WRITERS)
def test_whatever_fails_after_the_link_all_that_the_entry_names_is_there(tmp_path, writer, step):
    """Something fails at every line, or at every fourth."""
    make, write, messages = WRITERS[writer]
    (tmp_path / "made").mkdir()
    make(tmp_path / "made")
    for point in count(1, step):
        root = tmp_path / str(point)
        shutil.copytree(tmp_path / "made", root)
        log_state.cache_clear()
        with failing(writer, point) as reached, suppress(Exception):
            write(root)
        log_state.cache_clear()
        for table in (MESSAGES, ORIGINALS):
            names_only_what_is_there(root / table)
        if writer in REPEATED:
            write(root)
        rows = [*read(root)]
        assert sorted(rows) == [f"{number}@x" for number in range(1, messages + 1)], reached[-1]
        shutil.rmtree(root)
        if len(reached) < point:
            break
    assert point > 8


def names_only_what_is_there(path: Path) -> None:
    named: set[str] = set()
    for version in count():
        actions = read_entry(path, version)
        if actions is None and version:
            break
        for action in actions or ():
            if "add" in action:
                named.add(action["add"]["path"])
            elif "remove" in action:
                named.discard(action["remove"]["path"])
    assert all((path / name).exists() for name in named)


def read(root: Path) -> Iterator[str]:
    for data_file in Tables(root).data_files(MESSAGES):
        yield from pq.read_table(data_file.path)["msgid"].to_pylist()


def test_the_predicate_index_keeps_what_is_entered_whatever_fails_after_the_link(tmp_path):
    for point in count(1):
        path = tmp_path / str(point)
        write_rows(path, pa.table({"token": ["a"]}))
        with failing("predicate_index/files", point) as reached, suppress(Exception):
            write_rows(path, pa.table({"token": ["b"]}), files_of(path))
        assert DeltaTable(path).to_pyarrow_table()["token"].to_pylist() == ["b"]
        if len(reached) < point:
            break
    assert point > 8


def a_draft(root: Path, name: str) -> Draft:
    (root / "_delta_log").mkdir(exist_ok=True)
    (root / name).write_bytes(b"rows")
    draft = Draft(root)
    draft.add(root / name, "{}", data_change=True)
    return draft


@pytest.mark.parametrize("error", [OSError(errno.EIO, "?"), FileExistsError(errno.EEXIST, "?")])
def test_a_link_whose_answer_was_lost_is_a_commit(tmp_path, monkeypatch, error):
    link, stat = os.link, Path.stat

    def linked(*paths: Path) -> None:
        link(*paths)
        raise error

    def remembered(path: Path, **_: Any) -> Any:  # as NFS does: from before the link
        return SimpleNamespace(st_nlink=1, st_mode=stat(path).st_mode)

    with a_draft(tmp_path, "rows") as draft, monkeypatch.context() as patch:
        patch.setattr(os, "link", linked)
        patch.setattr(Path, "stat", remembered)
        assert draft.commit(0, {})
    assert (tmp_path / "rows").exists() and read_entry(tmp_path, 0)


def test_a_link_that_a_client_has_not_heard_of_is_a_commit(tmp_path, monkeypatch):
    def linked(draft: Path, path: Path) -> None:
        shutil.copyfile(draft, path)  # the client counts one link as long as it caches that
        raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")

    monkeypatch.setattr(os, "link", linked)
    with a_draft(tmp_path, "rows") as draft:
        assert draft.commit(0, {})
    assert (tmp_path / "rows").exists() and read_entry(tmp_path, 0)


def test_what_is_not_committed_is_deleted_at_once(tmp_path, monkeypatch):
    with a_draft(tmp_path, "first") as first:
        first.commit(0, {})
    with a_draft(tmp_path, "second") as second:
        assert not second.commit(0, {})
        assert (tmp_path / "second").exists(), "another number is still to be had"
    with suppress(OSError), a_draft(tmp_path, "third") as third, monkeypatch.context() as patch:
        patch.setattr(os, "link", lambda *_: Path("/not there").stat())
        third.commit(1, {})
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["first"]
    assert [path.name for path in (tmp_path / "_delta_log").iterdir()] == [f"{0:020}.json"]


def test_a_draft_is_committed_once(tmp_path):
    with a_draft(tmp_path, "rows") as draft:
        draft.commit(0, {})
        with pytest.raises(RuntimeError, match="make another"):
            draft.commit(1, {})


def test_what_fails_after_the_link_is_an_event_of_the_log(tmp_path, monkeypatch, caplog):
    def fail(path: Path) -> None:
        raise OSError(errno.EIO, "the disk says no")

    monkeypatch.setattr("tapestry.tables.delta.draft.sync_directory", fail)
    with a_draft(tmp_path, "rows") as draft:
        assert draft.commit(0, {})
    assert "committed_not_synced" in caplog.text and "the disk says no" in caplog.text
