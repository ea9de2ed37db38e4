"""Loading the sample: it looks three months old, and loading it again adds nothing."""

import pytest

from filters.sample.letter import Letter
from filters.sample.load import STEP, deliver, load
from filters.sample.story import story
from tapestry.core.clock import parse_instant, wall_clock
from tapestry.core.schema import MESSAGES
from tapestry.tables.delta.log import Tables, snapshot
from tests.support.clocks import MemoryClock

END = parse_instant("2026-03-31T12:00:00Z")


@pytest.fixture
def history():
    return story(END, messages=60)


def rows(tables):
    return sum(part.rows for part in snapshot(tables).messages)


def test_rows_are_as_old_as_their_letters_and_come_once(tmp_path, history):
    import pyarrow.dataset as ds

    tables, clock = Tables(tmp_path / "tables"), MemoryClock()
    count = sum(isinstance(event.what, Letter) for event in history)
    assert load(history, END, tmp_path / "mail", tables, clock) == count == rows(tables)
    paths = [part.path for part in snapshot(tables).messages]
    for row in ds.dataset(paths).to_table(columns=["ts", "date"]).to_pylist():
        assert -1_000_000 <= row["ts"] - row["date"] <= STEP + 1_000_000
        assert row["ts"] <= END + 1_000_000
    assert load(history, END, tmp_path / "mail", tables, clock) == 0
    assert rows(tables) == count


def test_what_comes_later_comes_now(tmp_path, history):
    tables, clock = Tables(tmp_path / "tables"), MemoryClock()
    before = wall_clock()
    assert deliver(history[:5], tmp_path, tables, clock) > 0
    assert min(part.min_ts for part in snapshot(tables).data_files(MESSAGES)) > before
