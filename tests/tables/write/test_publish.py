"""Staged mail becomes visible at once: one instant, no row lost or twice, whatever happens."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal

import pyarrow.parquet as pq
import pytest

from tapestry.core.clock import HOUR, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.files.damage import DamagedFileError
from tapestry.core.files.durable import sync_file
from tapestry.core.message import Message
from tapestry.tables.delta.commit import write_rows
from tapestry.tables.delta.log import Tables
from tapestry.tables.forget.forget import forget
from tapestry.tables.read.messages import copies
from tapestry.tables.read.originals import Original, original
from tapestry.tables.write import publish as publishing
from tapestry.tables.write import staging as staging_files
from tapestry.tables.write.append import (
    Cursor,
    advance_watermark,
    append_messages,
    append_rows,
    cursor_of,
)
from tapestry.tables.write.compact import compact
from tapestry.tables.write.publish import publish
from tapestry.tables.write.staging import Staging, drop_abandoned
from tests.support.clocks import FileClock, MemoryClock

processes = multiprocessing.get_context("forkserver")


@pytest.fixture
def tables(tmp_path) -> Tables:
    return Tables(tmp_path)


def stage(staging: Staging, begin: int, end: int, source: str = "box") -> None:
    mail = [Message(f"{n}@x") for n in range(begin, end)]
    raws = [Original(b"%d" % n) for n in range(begin, end)]
    staging.add(mail, raws, Cursor(source, end, content=end))


def staged(tables: Tables):
    return Staging.opened(tables, "box", "public")


def visible(tables: Tables) -> dict[str, int]:
    rows = [
        row
        for data_file in tables.data_files("messages")
        for row in pq.read_table(data_file.path, columns=["msgid", "ts"]).to_pylist()
    ]
    found = {row["msgid"]: row["ts"] for row in rows}
    assert len(found) == len(rows), "a message is there twice"
    return found


def ids(*numbers: int) -> set[str]:
    return {f"{n}@x" for n in numbers}


def still(seconds: float) -> None:
    """Wait for nothing."""


def test_all_batches_become_visible_at_one_instant_with_their_cursors(tables):
    clock = MemoryClock()
    with staged(tables) as staging:
        stage(staging, 0, 3)
        stage(staging, 3, 5)
        stage(staging, 5, 7, "other box")
        assert not visible(tables)
        receipt = publish(staging, clock)
    found = visible(tables)
    assert set(found) == ids(*range(7))
    assert set(found.values()) == {receipt.ts} and clock.last == receipt.ts
    assert (receipt.added, receipt.duplicates) == (7, 0)
    assert cursor_of(tables, "box") == Cursor("box", 5, content=5)
    assert cursor_of(tables, "other box") == Cursor("other box", 7, content=7)
    for n in range(7):
        copy = copies(tables, f"{n}@x", {"public"})[0]
        assert original(tables, f"{n}@x", copy).raw == b"%d" % n


def test_what_is_known_or_staged_twice_is_added_once(tables):
    clock = MemoryClock()
    append_messages(tables, clock, [Message("1@x")])
    with staged(tables) as staging:
        stage(staging, 0, 3)
        stage(staging, 2, 5)
        receipt = publish(staging, clock)
    assert (receipt.added, receipt.duplicates) == (4, 2)
    assert set(visible(tables)) == ids(*range(5))
    with staged(tables) as staging:
        stage(staging, 0, 3)
        stage(staging, 2, 5)
        assert publish(staging, clock).ts is None


def test_what_was_staged_is_there_for_the_next_process(tables):
    with staged(tables) as staging:
        stage(staging, 0, 3)
        staging.add([Message("broken@x")], [Original(b"?", ("no date",))], None)
    with staged(tables) as staging:
        assert (staging.messages, staging.broken) == (4, 1)
        assert staging.cursor_of("box") == Cursor("box", 3, content=3)
        assert staging.cursor_of("other box") is None
        stage(staging, 3, 5)
        publish(staging, MemoryClock())
    assert set(visible(tables)) == {*ids(*range(5)), "broken@x"}
    with staged(tables) as staging:
        assert not staging.batches()


def test_one_process_has_an_import_and_others_have_their_own(tables):
    with staged(tables):
        with pytest.raises(TapestryError, match="by another process"), staged(tables):
            pass
        with Staging.opened(tables, "box", "user:joe") as own:
            assert not own.batches()


def test_mail_that_comes_while_the_files_are_written_is_not_added_again(tables, monkeypatch):
    """It comes by another way, or the clock passes the instant of the import."""
    clock = MemoryClock()
    meanwhile = [
        lambda: append_messages(tables, clock, [Message("1@x")]),
        lambda: advance_watermark(tables, clock, lambda: wall_clock() + HOUR),
        lambda: compact(tables),
    ]

    def wait(seconds: float) -> None:
        if meanwhile:
            meanwhile.pop(0)()

    with staged(tables) as staging:
        stage(staging, 0, 3)
        stage(staging, 3, 5)
        receipt = publish(staging, clock, pause=wait)
    assert not meanwhile and (receipt.added, receipt.duplicates) == (4, 1)
    found = visible(tables)
    assert set(found) == ids(*range(5))
    assert clock.last == receipt.ts == max(found.values())


def test_files_that_a_forgetting_has_deleted_half_written_are_written_again(tables, monkeypatch):
    monkeypatch.setattr("tapestry.tables.delta.parquet_file.sync_file", once(sync_file, lost))
    with staged(tables) as staging:
        stage(staging, 0, 3)
        stage(staging, 3, 5)
        publish(staging, MemoryClock(), pause=still)
    assert set(visible(tables)) == ids(*range(5))


def lost(path):
    path.unlink()
    raise FileNotFoundError(2, "No such file", str(path))


def once(function, first):
    """Return a function that does something else as it is first called."""
    calls = [first]
    return lambda *given: (calls.pop() if calls else function)(*given)


def test_files_that_a_forgetting_has_deleted_are_written_again(tables):
    clock = MemoryClock()
    meanwhile = [lambda: forget(tables, clock, "user:nobody")]
    with staged(tables) as staging:
        stage(staging, 0, 3)
        stage(staging, 3, 5)
        publish(staging, clock, pause=lambda _: meanwhile and meanwhile.pop()())
    assert set(visible(tables)) == ids(*range(5))


@pytest.mark.parametrize("table", ["messages", "originals"])
def test_if_one_of_the_files_cannot_be_written_none_is_left(tables, monkeypatch, table):

    def fail_for_one(tables, name, rows, draft):
        if name == table:
            raise TapestryError("The disk says no.")
        write_rows(tables, name, rows, draft)

    with staged(tables) as staging:
        stage(staging, 0, 3)
        stage(staging, 3, 5)
        with monkeypatch.context() as patch:
            patch.setattr(publishing, "write_rows", fail_for_one)
            with pytest.raises(TapestryError, match="The disk says no"):
                publish(staging, MemoryClock(), pause=still)
        assert not list(tables.root.rglob("part-*"))
        publish(staging, MemoryClock(), pause=still)
    assert set(visible(tables)) == ids(*range(5))


def test_no_window_that_was_run_gets_a_row_afterwards(tables):
    clock, watermarks = MemoryClock(), []

    def wait(seconds: float) -> None:
        watermarks.append(advance_watermark(tables, clock))

    with staged(tables) as staging:
        stage(staging, 0, 3)
        stage(staging, 3, 5)
        receipt = publish(staging, clock, pause=wait)
    assert receipt.ts > max(watermarks)


def test_it_gives_up_in_words_when_the_clock_is_always_past_it(tables, monkeypatch):
    clock = MemoryClock()
    ahead = iter(range(1, 100))

    def wait(seconds: float) -> None:
        advance_watermark(tables, clock, lambda: wall_clock() + next(ahead) * 1000 * HOUR)

    with staged(tables) as staging:
        stage(staging, 0, 3)
        stage(staging, 3, 5)
        with pytest.raises(TapestryError, match="cannot be made visible"):
            publish(staging, clock, pause=wait)
        assert not visible(tables) and len(staging.batches()) == 2
        publish(staging, clock, pause=still)
    assert set(visible(tables)) == ids(*range(5))


def test_what_nobody_went_on_with_is_dropped(tables):
    with staged(tables) as staging:
        stage(staging, 0, 3)
        drop_abandoned(tables, hours=-1)
        assert staging.batches(), "somebody is at it"
    drop_abandoned(tables, hours=1)
    with staged(tables) as staging:
        assert staging.batches()
    compact(tables, abandoned_hours=-1)
    with staged(tables) as staging:
        assert not staging.batches()


def test_what_is_staged_for_an_audience_goes_as_it_is_forgotten(tables):
    for audience in ("user:joe", "public"):
        with Staging.opened(tables, "box", audience) as staging:
            staging.add(
                [Message("a@x", body="a secret", audience=audience)], [Original(b"a")], None
            )
    forget(tables, MemoryClock(), "user:joe")
    assert len([*tables.root.glob("staging/*/*.arrow")]) == 1
    with staged(tables) as staging:
        assert len(staging.batches()) == 1


@pytest.mark.parametrize("batches", [1, 2])
def test_an_import_publishes_nothing_once_its_audience_is_forgotten(tables, monkeypatch, batches):
    clock = MemoryClock()

    def append_late(*arguments):
        forget(tables, clock, "public")
        return append_rows(*arguments)

    monkeypatch.setattr(publishing, "append_rows", append_late)
    with staged(tables) as staging:
        for n in range(batches):
            stage(staging, n, n + 1)
        with pytest.raises(TapestryError, match="was forgotten"):
            publish(staging, clock, pause=lambda _: forget(tables, clock, "public"))
        with pytest.raises(TapestryError, match="was forgotten"):
            stage(staging, 2, 3)
    assert not visible(tables) and cursor_of(tables, "box") is None


def test_an_import_that_has_staged_nothing_yet_ends_as_its_audience_is_forgotten(tables):
    with staged(tables) as staging:
        forget(tables, MemoryClock(), "public")
        with pytest.raises(TapestryError, match="was forgotten"):
            stage(staging, 0, 1)
    assert not [*staging.directory.parent.glob("*/")]


STEPS = {
    "staged": (staging_files.Staging, "add"),
    "written": (publishing, "write_rows"),
    "committed": (publishing, "commit_draft"),
    "cleared": (publishing, "extend_index_if_behind"),
}


def die_after(step: str, calls: int) -> None:
    """Kill this process after so many calls of a step."""
    owner, name = STEPS[step]
    function = getattr(owner, name)
    left = [calls]

    def wrapped(*args, **options):
        result = function(*args, **options)
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, wrapped)


def import_all(root, step: str, calls: int) -> None:
    """Import ten messages in batches of two, from the staged cursor on."""
    if step:
        die_after(step, calls)
    tables = Tables(root)
    with staged(tables) as staging:
        reached = staging.cursor_of("box")
        for begin in range(reached.version if reached else 0, 10, 2):
            stage(staging, begin, begin + 2)
        if staging.batches():
            publish(staging, FileClock(root / "clock"))


@pytest.mark.parametrize("seed", range(6))
def test_an_import_that_is_killed_anywhere_is_there_once_and_as_a_whole(tmp_path, seed):
    chance = random.Random(seed)
    tables = Tables(tmp_path)
    for _ in range(3):
        step = chance.choice(list(STEPS))
        arguments = (tmp_path, step, chance.randint(1, 4))
        process = processes.Process(target=import_all, args=arguments)
        process.start()
        process.join()
        assert set(visible(tables)) in (set(), ids(*range(10)))
    import_all(tmp_path, "", 0)
    found = visible(tables)
    assert set(found) == ids(*range(10)) and len(set(found.values())) == 1


def test_an_import_whose_first_batch_is_missing_is_read_again(tables):
    with staged(tables) as staging:
        stage(staging, 0, 3)
        stage(staging, 3, 6)
        staging.batches()[0].unlink()
    with staged(tables) as staging:
        assert not staging.batches() and staging.cursor_of("box") is None


def test_an_import_with_a_damaged_batch_is_read_again(tables, caplog):
    with staged(tables) as staging:
        stage(staging, 0, 3)
        stage(staging, 3, 6)
        path = staging.batches()[0]
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
        with pytest.raises(DamagedFileError, match=path.name):
            publish(staging, MemoryClock())
    assert not tables.data_files("messages")
    with staged(tables) as staging:
        assert path.name in caplog.text
        assert not staging.batches() and staging.cursor_of("box") is None
        stage(staging, 0, 6)
        assert publish(staging, MemoryClock()).added == 6
