"""Archives parsed by several processes: in order, all of it, and again after a kill."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tapestry.core.errors import TapestryError
from tapestry.ingest import command
from tapestry.ingest.large_message import RawMessage
from tapestry.ingest.parallel import parse_batches
from tapestry.ingest.stream import Batch
from tapestry.tables.delta.log import Tables
from tests.support.clocks import MemoryClock
from tests.support.intake import ingest
from tests.support.paths import TESTS

FROM = "From joe@x.org Fri Jan  2 14:26:52 2004\n"


def batches(count, each=5):
    for n in range(count):
        raws = (b"Message-ID: <%d.%d@x>\n\nhi\n" % (n, m) for m in range(each))
        yield Batch(list(map(RawMessage, raws)))


def ids(answers):
    return [one.message.msgid for _, read in answers for one in read]


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("count", [0, 1, 7])
def test_batches_come_in_their_order(count, workers):
    alone = ids(parse_batches(batches(count), "s", "public", 0))
    assert ids(parse_batches(batches(count), "s", "public", workers)) == alone
    assert len(alone) == 5 * count


def test_what_came_before_a_break_comes_first():
    def breaking():
        yield from batches(3)
        raise TapestryError("The line broke.")

    found = []
    with pytest.raises(TapestryError, match="The line broke"):
        for one in parse_batches(breaking(), "s", "public", 2):
            found.append(one)
    assert len(ids(found)) == 15


def test_a_directory_is_parsed_by_several(tmp_path, monkeypatch):
    where = tmp_path / "mail"
    (where / "deeper").mkdir(parents=True)
    for name, numbers in (("a.mbox", range(40)), ("deeper/b.mbox", range(30, 70))):
        letters = (f"{FROM}Message-ID: <{n}@x>\n\nhi\n\n" for n in numbers)
        (where / name).write_text("".join(letters))
    (where / "one.eml").write_text("Message-ID: <one@x>\n\nhi\n")
    assert command._workers(where) == 0
    monkeypatch.setattr(command, "LARGE", 1000)
    monkeypatch.setattr(command, "MOST_WORKERS", 3)
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    monkeypatch.setattr("tapestry.ingest.ingest_batch.BATCH", 7)
    assert command._workers(where) == 3
    tables, clock = Tables(tmp_path / "tables"), MemoryClock()
    report = ingest(str(where), tables, clock)
    assert (report.read, report.added, report.duplicates) == (81, 71, 10)
    again = ingest(str(where), tables, clock)
    assert again.added == 0


def test_an_archive_is_whole_after_kills_and_its_workers_are_gone(tmp_path):
    messages = 600
    mbox = tmp_path / "a.mbox"
    letters = (f"{FROM}Message-ID: <{n}@x>\n\n{'word ' * 500}\n\n" for n in range(messages))
    mbox.write_text("".join(letters))
    root = tmp_path / "tables"
    root.mkdir()
    (root / "clock").touch()
    command = [
        sys.executable,
        str(TESTS / "support" / "faults" / "archive_killed.py"),
        str(root),
        str(mbox),
    ]
    environment = os.environ | {"PYTHONPATH": str(TESTS.parent)}
    chance = random.Random(4)
    for attempt in range(4):
        most = "6" if attempt < 3 else "0"
        process = subprocess.Popen(
            [*command, "20", most],
            env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        if attempt < 3:
            for _ in range(chance.randrange(1, 4)):
                process.stdout.readline()
            process.kill()
        process.communicate(timeout=300)
        assert process.returncode == (0 if attempt == 3 else -9)
        assert not _left(process.pid)
    rows = Tables(root).open("messages").to_pyarrow_table(columns=["msgid"])
    assert sorted(rows["msgid"].to_pylist()) == sorted(f"{n}@x" for n in range(messages))


def _left(session, patience=60):
    """The processes of a session that have not ended after some time."""
    until = time.monotonic() + patience
    while left := [path for path in Path("/proc").glob("[0-9]*/stat") if _of(path, session)]:
        if time.monotonic() > until:
            return left
        time.sleep(0.1)
    return []


def _of(path, session):
    try:
        fields = path.read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return fields[3] == str(session) and fields[0] != "Z"
