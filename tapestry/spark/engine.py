"""The engine of the product: run statements on Spark, through Spark Connect.

A view of few rows is sent along with the statement (``local_rows``), a larger one is scanned
by Spark.  The engine has its limits of rows and of seconds, and retries a statement once if the
server was restarted: a statement only reads.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.errors import AnalysisException, PySparkException, UnknownException
from pyspark.sql.pandas.types import from_arrow_schema
from sqlglot import exp

from tapestry.core.clock import NEVER
from tapestry.core.files.damage import DamagedFileError
from tapestry.core.log import event
from tapestry.core.schema import ANNOTATIONS, RETRACTED, RETRACTION, RETRACTION_KEY
from tapestry.embedded.local_rows import Limits, LocalRows, selected_columns
from tapestry.plan.engine import (
    PlanFailedError,
    Row,
    StatementFailedError,
    TimeLimited,
    TooManyError,
    TooMuchError,
    too_slow,
)
from tapestry.plan.relation import Range, Relation, Statement, View
from tapestry.spark import client
from tapestry.spark.dialect import spark_sql
from tapestry.spark.session import is_lost
from tapestry.spark.time_limit import GivenUpError, call_within
from tapestry.tables.delta.log import Snapshot
from tapestry.tables.delta.parquet_file import parquet_footer, verify_whole
from tapestry.tables.read.retractions import retraction_files
from tapestry.tables.rows import ARROW, arrow_schema

INTERPRETED = 100_000
"""Reads of rows up to which Spark interprets its plans: to generate code takes longer."""

TASK, MOST_TASKS = 200_000, 200
"""Scanned rows for each task of a shuffle, so that what it joins or groups fits in memory."""

ONE_TASK = 20_000
"""Rows sent along up to which a shuffle has one task: more tasks cost more than their work."""

LARGE = 1_000_000
"""Scanned rows from which on large tables are not broadcast: compressed, they look small."""

STOPPING = 10.0
"""Seconds that a server may take to stop."""


class SparkEngine(TimeLimited):
    """Runs statements over one snapshot of the tables; raises TooMuchError beyond its limits.

    ``local_rows`` are those that another engine reads of the snapshot, too.
    ``reopen`` returns another session when this one is lost.  ``running`` is entered for each
    statement.  ``is_wanted`` tells whether somebody still waits for the answer.
    ``on_given_up`` is called when a statement is given up: Spark may go on with it all the same.
    """

    most_rows = 2_000_000
    most_seconds = 900.0

    def __init__(
        self,
        session: Any,
        snapshot: Snapshot,
        limits: Limits | None = None,
        local_rows: LocalRows | None = None,
        reopen: Callable[[], Any] | None = None,
        running: Callable[[], AbstractContextManager[object]] = nullcontext,
        is_wanted: Callable[[], bool] = lambda: True,
        on_given_up: Callable[[], None] = lambda: None,
    ) -> None:
        self.session = session
        self.snapshot = snapshot
        self.local_rows = local_rows or LocalRows(snapshot, limits)
        self._reopen = reopen
        self._running = running
        self._is_wanted = is_wanted
        self._on_given_up = on_given_up
        self._sent: dict[object, Any] = {}

    def fetch(self, statement: Statement) -> list[Row]:
        """Return the rows of a statement; if Spark goes down over it, run it once more.

        Raise StatementFailedError if it fails, TooMuchError beyond the limits.
        """
        for _ in range(2):
            try:
                rows = self._run(statement)
                break
            except PySparkException as error:
                if not self._reopen_if_lost(str(error)):
                    if _may_be_damage(error):
                        for view in statement.views:
                            for data_file in self.local_rows.files(view):
                                verify_whole(data_file.path)
                    refused = isinstance(error, AnalysisException)
                    failed = PlanFailedError if refused else StatementFailedError
                    raise failed(
                        f"Spark did not answer: {str(error).strip().splitlines()[0]}",
                        hint="Look at Spark's log in the data directory's run/, or restart Spark.",
                    ) from error
        else:
            raise TooMuchError(
                "Spark went down over it twice.", hint="Say more narrowly what it is to find."
            )
        if rows.num_rows > self.most_rows:
            raise TooManyError(self.most_rows, int(pc.approximate_median(rows["c"]).as_py() or 0))
        return list(zip(*(column.to_pylist() for column in rows.columns), strict=True))

    def _reopen_if_lost(self, error: str) -> bool:
        """Open another session if this one is lost; return whether it was.

        A server that is being stopped still knows its sessions for a moment.
        """
        deadline = time.monotonic() + (STOPPING if "SparkContext" in error else 0.0)
        while self._reopen is None or not is_lost(self.session):
            if self._reopen is None or time.monotonic() >= deadline:
                return False
            time.sleep(0.2)
        started = time.perf_counter()
        reopen, self._reopen = self._reopen, None  # after one failure, do not wait again
        self.session = reopen()
        waited = time.perf_counter() - started
        self._deadline += waited  # no statement ran meanwhile
        event("spark_session_lost", seconds=waited)
        self._reopen = reopen
        self._sent = {}
        return True

    def _run(self, statement: Statement) -> pa.Table:
        read = list(statement.select.find_all(exp.Column, exp.Table))
        columns = {node.name for node in read if isinstance(node, exp.Column)}
        frames = {view.name: self.frame(view, statement, columns) for view in statement.views}
        frames |= {relation.name: self._relation(relation) for relation in statement.relations}
        reads = Counter(node.name for node in read if isinstance(node, exp.Table))
        used = reads.keys() & frames.keys()
        mark = uuid4().hex
        names = {name: f"{name}_{mark}" for name in used}
        sql = spark_sql(statement, names)
        local = {view: self.local_rows.rows(view, statement, columns) for view in statement.views}
        sent = sum(rows.num_rows for rows in local.values() if rows is not None)
        scanned = {
            view.name: sum(data_file.rows for data_file in self.local_rows.files(view))
            for view, rows in local.items()
            if rows is None
        }
        total = sum(scanned.values())
        self._tune(total, sum(scanned[name] * reads[name] for name in scanned), sent)
        deadline = min(self._deadline, time.monotonic() + self.most_seconds)
        allowed = min(self._allowed, self.most_seconds)
        if deadline <= time.monotonic():
            raise too_slow(allowed)
        try:
            with self._running():
                return self._query_until(
                    deadline, sql, {names[name]: frames[name] for name in used}
                )
        except GivenUpError:
            event("spark_given_up", seconds=allowed, scanned=total)
            self._on_given_up()
            raise too_slow(allowed) from None

    def _query_until(self, deadline: float, sql: str, frames: dict[str, Any]) -> pa.Table:
        session, tag = self.session, f"statement-{uuid4().hex}"

        def query() -> pa.Table:
            session.addTag(tag)  # tags belong to the thread
            return client.query(session, sql, frames, self.most_rows + 1)

        def interrupt() -> None:
            with suppress(PySparkException):  # Spark is gone: the query fails by itself
                session.interruptTag(tag)

        return call_within(deadline - time.monotonic(), query, interrupt, self._is_wanted)

    def _tune(self, scanned: int, reads: int, sent: int) -> None:
        """Choose parallelism and broadcasts by the number of scanned rows, and of those sent.

        And code generation by that of reads: a row counts as often as its view is named.
        """
        tasks = 1 if not scanned and sent <= ONE_TASK else 2
        settings = {
            "spark.sql.codegen.wholeStage": str(reads > INTERPRETED).lower(),
            "spark.sql.codegen.factoryMode": "FALLBACK" if reads > INTERPRETED else "NO_CODEGEN",
            "spark.sql.files.minPartitionNum": "2" if scanned > ONE_TASK else "1",
            "spark.sql.shuffle.partitions": str(max(tasks, min(scanned // TASK, MOST_TASKS))),
            "spark.sql.autoBroadcastJoinThreshold": "64MB" if scanned < LARGE else "8MB",
        }
        client.configure(self.session, settings)

    def frame(self, view: View, statement: Statement, columns: Collection[str]) -> Any:
        """Return a view as a DataFrame: few rows are sent along, many are scanned by Spark."""
        rows = self.local_rows.rows(view, statement, columns)
        if rows is None:
            paths = [data_file.path for data_file in self.local_rows.files(view)]
            for path in paths:  # Spark verifies pages alone, and an empty file has none
                if not Path(path).stat().st_size:
                    raise DamagedFileError(path, "it is empty")
                parquet_footer(path)
            names = selected_columns(view.table, columns)
            if RETRACTED not in names:
                return self._scanned(view.table, paths).select(names)
            return self._with_retracted(self._scanned(view.table, paths)).select(names)
        key = self.local_rows.key(view, statement, columns)
        if key not in self._sent:
            self._sent[key] = client.frame_of(self.session, rows)
        return self._sent[key]

    def _scanned(self, table: str, paths: Sequence[str]) -> Any:
        files = self.session.read.schema(from_arrow_schema(arrow_schema(table)))
        return files.parquet(*paths)

    def _with_retracted(self, rows: Any) -> Any:
        """Return annotations with the column that says until when they stand."""
        files = retraction_files(self.snapshot.data_files(ANNOTATIONS))
        retractions = self._scanned(ANNOTATIONS, [data_file.path for data_file in files])
        annid, *others = RETRACTION_KEY
        first = (
            retractions.filter(retractions["kind"] == RETRACTION)
            .groupBy(retractions["value"].alias(annid), *others)
            .agg({"ts": "min"})
        )
        joined = rows.join(first, [*RETRACTION_KEY], "left")
        retracted = f"CASE WHEN kind = '{RETRACTION}' THEN ts ELSE coalesce(`min(ts)`, {NEVER}) END"
        return joined.selectExpr("*", f"{retracted} AS {RETRACTED}")

    def covers(self, table: str, ranges: tuple[Range, ...], by: str = "ts") -> bool:
        return self.local_rows.covers(table, ranges, by)

    def newest_after(self, table: str, by: str, rows: int) -> int | None:
        return self.local_rows.newest_after(table, by, rows)

    def _relation(self, relation: Relation) -> Any:
        schema = pa.schema(
            (field.name, pa.list_(ARROW[field.type]) if field.many else ARROW[field.type])
            for field in relation.fields
        )
        columns = zip(*relation.rows, strict=True) if relation.rows else ([] for _ in schema)
        rows = pa.table(list(map(pa.array, columns, schema.types)), schema=schema)
        return client.frame_of(self.session, rows)


def _may_be_damage(error: PySparkException) -> bool:
    """Tell whether a file may be damaged: Spark says so, or meets an error that it has no name for.

    A file that was cut short is such an error.
    """
    condition: str = error.getCondition() or ""
    return condition.startswith("FAILED_READ_FILE") or isinstance(error, UnknownException)
