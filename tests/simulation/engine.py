"""The product's embedded engine, over the rows of a snapshot, or its statements on a real Spark."""

from __future__ import annotations

from functools import partial
from typing import Any

import pyarrow.parquet as pq

from tapestry.core.schema import COLUMNS
from tapestry.embedded.engine import EmbeddedEngine
from tapestry.embedded.local_rows import LocalRows
from tapestry.plan.engine import EngineStuckError, Row, TooManyError, TooSlowError
from tests.support.engines.sqlite_engine import SqliteEngine


def pause() -> None:
    """Wait as long as a statement takes; a site puts its own in the place of this."""


def failure(fault: str, now: int) -> Exception:
    """Return the error with which the engine gives a statement up."""
    match fault:
        case "too slow":
            return TooSlowError("It took too long.")
        case "too many":
            return TooManyError(1000, now - 60_000_000)
        case "stuck":
            return EngineStuckError()
    return RuntimeError("the engine is broken")


_last: tuple[tuple[str, ...], EmbeddedEngine] | None = None


def spark_on(remote: str, snapshot: Any, **_: Any) -> Any:
    """Return the product's own engine over a snapshot, on a Spark that serves all worlds."""
    from grpc import _channel

    from tapestry.spark.engine import SparkEngine
    from tapestry.spark.session import connect

    class Engine(SparkEngine):
        def fetch(self, statement: Any) -> Any:
            pause()
            return super().fetch(statement)

    _channel._deadline = lambda _: None  # it would be reckoned from simulated time
    return Engine(connect(remote), snapshot)


def engine_on(snapshot: Any, **_: Any) -> EmbeddedEngine:
    """Return the product's embedded engine over a snapshot: the last one, if it has the same files.

    What it leaves to another engine, the engine of the tests answers.
    """
    global _last
    files = {table: [str(f.path) for f in snapshot.data_files(table)] for table in COLUMNS}
    key = tuple(path for paths in files.values() for path in paths)
    if _last is None or _last[0] != key:
        _last = (key, _Engine(LocalRows(snapshot), partial(_other, files)))
    return _last[1]


def _other(files: dict[str, list[str]]) -> SqliteEngine:
    return SqliteEngine({t: [r for p in paths for r in _read(p)] for t, paths in files.items()})


def _read(path: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.ParquetFile(path).read(use_threads=False).to_pylist()
    return rows


class _Engine(EmbeddedEngine):
    def fetch(self, statement: Any) -> list[Row]:
        pause()
        return super().fetch(statement)
