"""Answer statements on Spark: through Spark Connect, or in this process."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Sequence
from functools import cache
from typing import Any

import pyarrow as pa

from tapestry.core.errors import TapestryError
from tapestry.core.schema import COLUMNS, Type
from tapestry.plan.relation import Range, Relation, Statement, View
from tapestry.plan.spark_sql import spark_sql
from tapestry.tables.log import Part, Snapshot

LOCAL = "local"
"""The remote that means: a Spark of this process's own."""

SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "64MB",
}
"""Settings of every session: small statements, exact integers, no surprises by zone."""

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


@cache
def connect(remote: str) -> Any:
    """Return this process's session with the Spark Connect server at ``sc://host:port``.

    ``LOCAL`` starts a Spark in this process.  Raises TapestryError where nothing answers.
    """
    from pyspark.sql import SparkSession

    if remote == LOCAL:
        builder = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.log.level", "ERROR")
        os.environ.setdefault("PYSPARK_SUBMIT_ARGS", "--driver-memory 2g pyspark-shell")
    else:
        _must_answer(remote)
        builder = SparkSession.builder.remote(remote)
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _must_answer(remote: str) -> None:
    """Raise TapestryError unless a server listens; the client would wait for minutes."""
    place = re.match(r"sc://([^:/;]+)(?::(\d+))?", remote)
    if place is None:
        raise TapestryError(
            f"{remote!r} is not the address of a Spark Connect server.",
            hint="Set SPARK_REMOTE to an address such as sc://127.0.0.1:15002.",
        )
    try:
        socket.create_connection((place[1], int(place[2] or 15002)), timeout=3).close()
    except OSError as error:
        raise TapestryError(
            f"Spark cannot be reached at {remote} ({error.strerror or error}).",
            hint="Start it with `manage.py up`, or set SPARK_REMOTE to a server that runs.",
        ) from error


class SparkEngine:
    """Answers statements over one snapshot of the tables."""

    def __init__(self, session: Any, snapshot: Snapshot) -> None:
        self.session = session
        self.snapshot = snapshot

    def answer(self, statement: Statement) -> list[tuple[int, str, str, int, int, int, str]]:
        """Return the rows of a statement, in the columns of ``plan.relation.OUTPUT``."""
        frames = {view.name: self._view(view) for view in statement.views}
        frames |= {relation.name: self._relation(relation) for relation in statement.relations}
        sql = spark_sql(statement, {name: f"frame_of_{name}_" for name in frames})
        text = sql.replace("{", "{{").replace("}", "}}")
        text = re.sub(r"\bframe_of_(\w+?)_(?=\s)", r"{\1}", text)
        used = {name: frame for name, frame in frames.items() if "{" + name + "}" in text}
        return [tuple(row) for row in self.session.sql(text, **used).collect()]

    def files(self, view: View) -> list[str]:
        """Return the files of the snapshot that can hold rows of a view."""
        parts = self.snapshot.parts(view.table)
        if view.ranges is None:
            return [part.path for part in parts]
        return [part.path for part in parts if _overlaps(part, view.ranges)]

    def covers(self, table: str, ranges: tuple[Range, ...]) -> bool:
        """Tell whether the table can hold rows whose ``ts`` lies in one of the ranges."""
        return any(_overlaps(part, ranges) for part in self.snapshot.parts(table))

    def _view(self, view: View) -> Any:
        files = self.files(view)
        columns = COLUMNS[view.table]
        if not files:
            return self.session.createDataFrame([], _schema(columns))
        return self.session.read.schema(_schema(columns)).parquet(*files)

    def _relation(self, relation: Relation) -> Any:
        columns: Sequence[Sequence[object]] = list(zip(*relation.rows, strict=True))
        table = pa.table(
            [
                pa.array(column, pa.list_(ARROW[f.type]) if f.many else ARROW[f.type])
                for f, column in zip(relation.fields, columns, strict=True)
            ],
            names=[f.name for f in relation.fields],
        )
        return self.session.createDataFrame(table)


def _overlaps(part: Part, ranges: tuple[Range, ...]) -> bool:
    return any(low < part.max_ts and part.min_ts <= high for low, high in ranges)


def _schema(columns: dict[str, Type]) -> str:
    return ", ".join(f"`{name}` {SPARK[kind]}" for name, kind in columns.items())
