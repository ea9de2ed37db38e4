"""The law of imports, for archives: read in any batches, interrupted anywhere."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.clocks import MemoryClock
from tests.support.intake import ingest
from tests.support.oracle import silence


def mbox(path, messages):
    entry = "From joe@x.org Fri Jan  2 14:26:52 2004\n{}\n"
    path.write_text("".join(entry.format(raw.decode()) for raw in messages))


def directory(path, messages):
    path.mkdir()
    for number, raw in enumerate(messages):
        (path / f"{number:03}.eml").write_bytes(raw)


@pytest.mark.parametrize("write", [mbox, directory])
@pytest.mark.parametrize("seed", range(4))
def test_an_archive_invents_no_silence(tmp_path, monkeypatch, seed, write):
    chance = random.Random(seed)
    tables, clock = Tables(tmp_path / "tables"), MemoryClock()
    archive = tmp_path / "archive"
    write(archive, silence.threads(chance, 12))
    monkeypatch.setattr("tapestry.ingest.archive.directory.FEW", 2)

    def stop(done, total):
        append_messages(tables, clock, [Message(f"other {seed} {done}")])
        if chance.random() < 0.3:
            raise KeyboardInterrupt

    for _ in range(6):
        monkeypatch.setattr("tapestry.ingest.ingest_batch.BATCH", chance.randint(1, 5))
        with suppress(KeyboardInterrupt):
            ingest(str(archive), tables, clock, progress=stop)
    ingest(str(archive), tables, clock)
    rows = tables.open("messages").to_pyarrow_table(columns=["msgid", "ts"]).to_pylist()
    imported = [row for row in rows if row["msgid"].endswith("@x.org")]
    assert len({row["ts"] for row in imported}) == 1
    silence.check(tables, 12 + len(rows) - len(imported))
