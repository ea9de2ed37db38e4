"""A data file that Spark reads and that is damaged: it is named, and no wrong rows are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapestry.core.clock import BEGINNING
from tapestry.core.files.damage import DamagedFileError
from tapestry.core.message import Message
from tapestry.embedded.local_rows import Limits
from tapestry.plan.compile import compile_filter
from tapestry.query.context import Context
from tapestry.run.execute import Subscription, execute
from tapestry.spark.engine import SparkEngine
from tapestry.spark.session import connect
from tapestry.tables.delta import parquet_file
from tapestry.tables.delta.log import Tables, snapshot
from tapestry.tables.write.append import append_messages
from tests.support.clocks import MemoryClock

pytestmark = pytest.mark.spark


@pytest.fixture
def session(spark_server):
    session = connect(spark_server)
    yield session
    session.stop()


def test_a_page_that_was_changed_is_no_answer_and_its_file_is_named(session, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_file, "WHOLE", 0)  # as if the file were large
    tables, clock = Tables(tmp_path), MemoryClock()
    subjects = [f"{n:06}{'z' if n % 2 else ''}" for n in range(3000)]
    append_messages(tables, clock, [Message(f"m{s}", subject=s) for s in subjects])
    path = Path(tables.data_files("messages")[0].path)
    asked = [Subscription(1, compile_filter("m.subject = '001234'", Context()), ("public",),
                          BEGINNING)]  # fmt: skip

    def answer():
        engine = SparkEngine(session, snapshot(tables), Limits(0, 0, 0, 0, 0))
        return [match.msgid for match in execute(engine, asked, 2**62, lambda _: set())]

    assert answer() == ["m001234"]
    with parquet_file.open_parquet(path) as file:
        names = file.schema_arrow.names
        column = file.metadata.row_group(1).column(names.index("subject"))
    content = bytearray(path.read_bytes())
    content[column.data_page_offset + column.total_compressed_size // 2] ^= 1
    for damaged in (bytes(content), content[:-200], b""):
        path.write_bytes(damaged)
        with pytest.raises(DamagedFileError, match=path.name):
            answer()
