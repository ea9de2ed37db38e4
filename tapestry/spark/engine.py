"""Answer statements on Spark, through Spark Connect."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.errors import PySparkException
from sqlglot import exp

from tapestry.core.errors import TapestryError
from tapestry.core.schema import COLUMNS, Type
from tapestry.plan.engine import Row, TooManyError, TooMuchError
from tapestry.plan.relation import Range, Relation, Statement, View
from tapestry.spark.dialect import spark_sql
from tapestry.spark.local_rows import Limits, LocalRows, overlaps, selected_columns
from tapestry.spark.session import is_lost
from tapestry.tables.log import Snapshot

INTERPRETED = 100_000
"""Rows in files up to which Spark interprets its plans: to compile them takes longer."""

TASK, MOST_TASKS = 200_000, 200
"""Rows in files for each task of a shuffle, so that what it joins or groups fits its memory."""

LARGE = 1_000_000
"""Rows in files from which on no table is taken into memory whole: packed, it looks small."""

ARROW = {
    Type.TEXT: pa.string(),
    Type.INTEGER: pa.int64(),
    Type.NUMBER: pa.float64(),
    Type.INSTANT: pa.int64(),
    Type.DURATION: pa.int64(),
}

SPARK = {
    Type.TEXT: "string",
    Type.SET: "array<string>",
    Type.INTEGER: "bigint",
    Type.NUMBER: "double",
    Type.INSTANT: "bigint",
}


class SparkEngine:
    """Answers statements over one snapshot of the tables; raises TooMuchError beyond its limits."""

    most_rows = 2_000_000
    most_seconds = 900

    def __init__(
        self,
        session: Any,
        snapshot: Snapshot,
        limits: Limits | None = None,
        reopen: Callable[[], Any] | None = None,
        on_timeout: Callable[[], None] = lambda: None,
    ) -> None:
        """Answer over a snapshot, on a session.

        ``reopen`` gives another session when this one is lost, and ``on_timeout`` is called for a
        statement that took too long: Spark may go on with it all the same.
        """
        self.session = session
        self.snapshot = snapshot
        self.local_rows = LocalRows(snapshot, limits)
        self._reopen = reopen
        self._on_timeout = on_timeout
        self._sent: dict[object, Any] = {}
        self._settings: dict[str, str] = {}

    def fetch(self, statement: Statement) -> list[Row]:
        """Return the rows of a statement, in the columns of ``plan.relation.OUTPUT``.

        A statement only reads: if Spark goes down over it, it is asked once more.
        """
        for _ in range(2):
            try:
                found = self._found(statement)
                break
            except PySparkException as error:
                if not self._renewed():
                    raise _plainly(error) from error
        else:
            raise TooMuchError(
                "Spark went down over it twice.", hint="Say more narrowly what it is to find."
            )
        if found.num_rows > self.most_rows:
            raise TooManyError(self.most_rows, int(pc.approximate_median(found["c"]).as_py() or 0))
        return list(zip(*(column.to_pylist() for column in found.columns), strict=True))

    def _renewed(self) -> bool:
        """Open another session if this one is lost; tell whether it was."""
        if self._reopen is None or not is_lost(self.session):
            return False
        reopen, self._reopen = self._reopen, None  # who waited in vain does not wait again
        self.session = reopen()
        self._reopen = reopen
        self._sent, self._settings = {}, {}
        return True

    def _found(self, statement: Statement) -> pa.Table:
        columns = {column.name for column in statement.select.find_all(exp.Column)}
        frames = {view.name: self.frame(view, statement, columns) for view in statement.views}
        frames |= {relation.name: self._relation(relation) for relation in statement.relations}
        used = {table.name for table in statement.select.find_all(exp.Table)} & frames.keys()
        mark = uuid4().hex
        names = {name: f"{name}_{mark}" for name in used}
        sql = spark_sql(statement, names)
        scanned = sum(
            data_file.rows
            for view in statement.views
            if self.local_rows.rows(view, statement, columns) is None
            for data_file in self.local_rows.files(view)
        )
        self._settle(scanned)
        late = threading.Event()
        try:
            with self._in_time(late):
                return self._ask(sql, {names[name]: frames[name] for name in used})
        except PySparkException as error:
            if not (late.is_set() and "CANCELED" in str(error)):
                raise
            self._on_timeout()
            raise TooMuchError(
                f"It takes more than {self.most_seconds} seconds to run.",
                hint="Say more narrowly what it is to find.",
            ) from error

    def _ask(self, sql: str, frames: dict[str, Any]) -> pa.Table:
        """Return the answer of a statement in which the frames have names of their own.

        ``SparkSession.sql`` and ``DataFrame.toArrow`` would have it analysed thrice; to analyse
        a large one takes as long as to run it.
        """
        from pyspark.sql.connect.dataframe import DataFrame
        from pyspark.sql.connect.plan import SQL, SubqueryAlias

        views = [SubqueryAlias(frame._plan, name) for name, frame in frames.items()]
        asked = DataFrame(SQL(sql, [], {}, views), self.session).limit(self.most_rows + 1)
        return asked._to_table()[0]

    @contextmanager
    def _in_time(self, late: threading.Event) -> Iterator[None]:
        """Have Spark give up on what the block asks when it takes too long: then set ``late``."""
        session, tag = self.session, f"statement-{uuid4().hex}"
        done = threading.Event()

        def give_up() -> None:
            # Again and again: what has not quite begun yet is not interrupted.
            patience = float(self.most_seconds)
            while not done.wait(patience):
                late.set()
                with suppress(PySparkException):  # Spark is gone: who asks hears of it
                    session.interruptTag(tag)
                patience = 1.0

        session.addTag(tag)
        watch = threading.Thread(target=give_up, daemon=True)
        watch.start()
        try:
            yield
        finally:
            done.set()
            watch.join()
            session.removeTag(tag)

    def _settle(self, scanned: int) -> None:
        """Let Spark compile its plans, or not, and divide work that is much."""
        settings = {
            "spark.sql.codegen.wholeStage": str(scanned > INTERPRETED).lower(),
            "spark.sql.codegen.factoryMode": "FALLBACK" if scanned > INTERPRETED else "NO_CODEGEN",
            "spark.sql.shuffle.partitions": str(max(2, min(scanned // TASK, MOST_TASKS))),
            "spark.sql.autoBroadcastJoinThreshold": "64MB" if scanned < LARGE else "8MB",
        }
        for name, value in settings.items():
            if self._settings.get(name) != value:
                self.session.conf.set(name, value)
        self._settings = settings

    def frame(self, view: View, statement: Statement, columns: Collection[str]) -> Any:
        """Return the rows of a view: a few of them along with the statement, many by Spark."""
        found = self.local_rows.rows(view, statement, columns)
        names, kinds = selected_columns(view.table, columns), COLUMNS[view.table]
        if found is None:
            paths = [data_file.path for data_file in self.local_rows.files(view)]
            return self.session.read.schema(_schema(kinds)).parquet(*paths).select(names)
        key = self.local_rows.key(view, statement, columns)
        if key not in self._sent:
            # Of no rows the client cannot tell the columns.
            empty = _schema({name: kinds[name] for name in names})
            self._sent[key] = (
                self.session.createDataFrame(found)
                if found.num_rows
                else self.session.createDataFrame([], empty)
            )
        return self._sent[key]

    def covers(self, table: str, ranges: tuple[Range, ...]) -> bool:
        """Tell whether the table can hold rows whose ``ts`` lies in one of the ranges."""
        return any(overlaps(data_file, ranges) for data_file in self.snapshot.data_files(table))

    def _relation(self, relation: Relation) -> Any:
        if not relation.rows:
            # Of no rows the client cannot tell the columns.
            kinds = (
                f"array<{SPARK[f.type]}>" if f.many else SPARK[f.type] for f in relation.fields
            )
            columns_of = zip(relation.fields, kinds, strict=True)
            names = ", ".join(f"`{f.name}` {kind}" for f, kind in columns_of)
            return self.session.createDataFrame([], names)
        columns: Sequence[Sequence[object]] = list(zip(*relation.rows, strict=True))
        table = pa.table(
            [
                pa.array(column, pa.list_(ARROW[f.type]) if f.many else ARROW[f.type])
                for f, column in zip(relation.fields, columns, strict=True)
            ],
            names=[f.name for f in relation.fields],
        )
        return self.session.createDataFrame(table)


def _plainly(error: PySparkException) -> TapestryError:
    return TapestryError(
        f"Spark did not answer: {str(error).strip().splitlines()[0]}",
        hint="Look at Spark's log in the data directory's run/, or restart Spark.",
    )


def _schema(columns: dict[str, Type]) -> str:
    return ", ".join(f"`{name}` {SPARK[kind]}" for name, kind in columns.items())
