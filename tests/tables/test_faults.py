"""Faults while several processes append, compact and run: every message once, none missed."""

from __future__ import annotations

import json

import pytest

from tapestry.core.clock import BEGINNING
from tapestry.tables.delta.log import Tables, snapshot
from tapestry.tables.read.find import by_key, by_time
from tapestry.tables.read.messages import copies
from tapestry.tables.read.originals import original
from tests.support.faults.append_faults import MESSAGES, one_run, struck_once


def check(root):
    tables = Tables(root)
    one_run(root)
    rows = by_time(
        snapshot(tables).messages, "messages", [(BEGINNING, 2**62)], ["msgid", "ts"]
    ).to_pylist()
    expected = sorted([*(f"{source}{n}" for source in "ab" for n in range(MESSAGES)), "both0"])
    assert sorted(row["msgid"] for row in rows) == expected, "every message is there once"
    runs = [json.loads(line) for line in (root / "runs").read_text().splitlines()]
    assert sorted(name for each in runs for name in each["seen"]) == expected, "none was missed"
    ts = {row["msgid"]: row["ts"] for row in rows}
    assert all(each["since"] < ts[name] <= each["until"] for each in runs for name in each["seen"])
    found = by_key(snapshot(tables).messages, root, "messages", "inreplyto", {"both0"}, ["msgid"])
    assert sorted(found["msgid"].to_pylist()) == expected, "the index knows all"
    for name in (expected[0], expected[-1], "both0"):
        assert original(tables, name, *copies(tables, name, ("public",))).raw == name.encode()


@pytest.mark.parametrize("seed", range(10))
def test_after_a_fault_every_message_is_there_once_and_no_run_missed_one(tmp_path, seed):
    struck_once(tmp_path, seed)
    check(tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 220))
def test_after_many_faults_every_message_is_there_once(tmp_path, seed):
    struck_once(tmp_path, seed)
    check(tmp_path)
