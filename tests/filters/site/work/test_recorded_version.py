"""What version 1.0 sends, tells and writes is read, and what a newer one adds does no harm.

The fixture has what processes of one site hand to each other: names of tasks with their queue and
the fewest and most arguments, the word of a machine in Redis, the entries of a log.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import redis
from django.conf import LazySettings

from filters.site.work.parts import machines
from filters.site.work.parts.endings import Ending
from tapestry.celery import QUEUES, app
from tapestry.core.clock import wall_clock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.delta.log_entry import entry_bytes, entry_path
from tapestry.tables.write.append import Cursor, append_messages
from tests.support.clocks import MemoryClock
from tests.support.paths import ROOT

RECORDED: dict[str, Any] = json.loads((ROOT / "tests/fixtures/versions/1.0.json").read_text())


@pytest.mark.parametrize("name", RECORDED["tasks"])
def test_each_task_is_taken_from_its_queue_with_its_arguments(name: str) -> None:
    app.loader.import_default_modules()
    queue, fewest, most = RECORDED["tasks"][name]
    assert name in QUEUES[queue], "a newer worker leaves what an older process sends there"
    for count in range(fewest, most + 1):
        app.tasks[name].__header__(*range(count))


@pytest.mark.live
def test_what_a_machine_tells_is_read_whatever_a_newer_one_tells_more(
    redis_url: str, settings: LazySettings, monkeypatch: pytest.MonkeyPatch, data: Path
) -> None:
    monkeypatch.setenv("REDIS_URL", redis_url)
    notice = RECORDED["machine"] | {"at": wall_clock()}
    newer = notice | {
        "later": 1,
        "endings": [ending | {"later": 1} for ending in notice["endings"]],
    }
    with redis.from_url(redis_url) as server:
        server.hset(machines.KEY, mapping={"a": json.dumps(notice), "b": json.dumps(newer)})
    one, other = machines.known()
    assert one.endings == other.endings == (Ending(**notice["endings"][0]),)
    assert one.kinds == other.kinds == ("web", "worker")


@pytest.fixture
def written(tmp_path: Path) -> Tables:
    """Return tables whose log version 1.0 has written."""
    root = tmp_path / "messages"
    (root / "_delta_log").mkdir(parents=True)
    for number, entry in enumerate(RECORDED["log"]):
        entry_path(root, number).write_text(entry)
    return Tables(tmp_path)


def test_a_log_is_read_and_written_on_whatever_a_newer_version_notes_in_it(written: Tables) -> None:
    assert len(RECORDED["log"]) == 4
    for version in (3, 4):
        number, (file,) = written.version("messages")
        assert (number, file.rows, file.min_ts, file.max_ts) == (version, 3, 1_000_001, 2_000_001)
        assert written.transaction("messages", "inbox") == 9
        actions = [{"later": {"number": 1}}, {"txn": {"appId": "x", "version": 1, "later": 1}}]
        path = entry_path(written.root / "messages", version + 1)
        path.write_bytes(entry_bytes(actions, {"operation": "WRITE", "later": 1}))
    assert written.version("messages")[0] == 5
    again = append_messages(written, MemoryClock(), [Message("3@x")], Cursor("inbox", 9))
    assert not again.added
