"""The product's statements on sqlite, over the rows of a snapshot, or on a real Spark."""

from __future__ import annotations

from typing import Any

import pyarrow.parquet as pq

from tapestry.core.clock import NEVER
from tapestry.core.schema import COLUMNS
from tapestry.plan.engine import EngineStuckError, TooManyError, TooSlowError
from tests.support.engines import sqlite_engine
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


_rows: dict[str, list[dict[str, Any]]] = {}
_last: tuple[tuple[str, ...], SqliteEngine] | None = None


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


def engine_on(snapshot: Any, **_: Any) -> SqliteEngine:
    """Return the engine over a snapshot: the last one, if it was over the same files."""
    global _last
    files = {table: [str(f.path) for f in snapshot.data_files(table)] for table in COLUMNS}
    key = tuple(path for paths in files.values() for path in paths)
    if _last is None or _last[0] != key:
        _last = (
            key,
            _Engine({t: [r for p in paths for r in _read(p)] for t, paths in files.items()}),
        )
    return _last[1]


def _read(path: str) -> list[dict[str, Any]]:
    if path not in _rows:
        _rows[path] = pq.ParquetFile(path).read(use_threads=False).to_pylist()
    return _rows[path]


class _Engine(SqliteEngine):
    """The engine of the tests; what was retracted is found in one pass."""

    def __init__(self, data: dict[str, list[dict[str, Any]]]) -> None:
        taken: dict[Any, int] = {}
        for row in data["annotations"]:
            if row["kind"] == "retraction":
                named = (row["value"], row["msgid"], row["owner"], row["audience"])
                taken[named] = min(row["ts"], taken.get(named, NEVER))

        def retracted(row: dict[str, Any], _: Any) -> int:
            if row["kind"] == "retraction":
                return int(row["ts"])
            return taken.get((row["annid"], row["msgid"], row["owner"], row["audience"]), NEVER)

        real, sqlite_engine.retracted = sqlite_engine.retracted, retracted
        try:
            super().__init__(data)
        finally:
            sqlite_engine.retracted = real

    def fetch(self, statement: Any) -> list[tuple[Any, ...]]:
        pause()
        rows: list[tuple[Any, ...]] = super().fetch(statement)
        return rows
