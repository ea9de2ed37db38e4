"""Answer a statement on an embedded database, SQLite, where its rows are few.

A window concerns few rows, and most of them are in memory already (``local_rows``).  A statement
over them takes milliseconds here, and Spark takes longer to plan it.  What scans, takes long, finds
much, or depends on letters that another Unicode may see otherwise is left to the other engine,
which is opened then.

Law (``tests/embedded``, ``tests/spark``): where both answer, they answer the same.
"""

from __future__ import annotations

import math
import re
import sqlite3
import time
from collections.abc import Callable, Collection
from functools import cache

from tapestry.core.log import event
from tapestry.core.schema import COLUMNS, RETRACTED
from tapestry.embedded.database import Database, ViewRows
from tapestry.embedded.dialect import sqlite_sql
from tapestry.embedded.functions import UnsureError
from tapestry.embedded.local_rows import LocalRows
from tapestry.plan.engine import Engine, Row, TimeLimited, TooSlowError, too_slow
from tapestry.plan.relation import Range, Statement

MOST_ROWS = 20_000
"""Rows of all views and relations of a statement, and of its answer."""

MOST_BYTES = 32 * 1024 * 1024
"""Bytes of the rows of its views."""

MOST_SECONDS = 2.0
"""Seconds of the processor that a statement may take before it is left to the other engine."""

OTHERS = {"body", RETRACTED}
"""Columns that are read for the statements that name them: texts are long."""

SHARED = frozenset(name for columns in COLUMNS.values() for name in columns) - OTHERS
"""Columns that are read for every statement, so that those of a window share what is read."""

_NAME = re.compile(r"\w+")

STEPS = 10_000
"""Steps of SQLite between two looks at the clock."""


class EmbeddedEngine(TimeLimited):
    """Answers what it can from the rows of a snapshot, and leaves all else to another engine.

    ``open_other`` opens that one.  A statement without views is always its own: it asks whether the
    other engine runs.
    """

    def __init__(self, local_rows: LocalRows, open_other: Callable[[], Engine]) -> None:
        self._local_rows = local_rows
        self._other = cache(open_other)
        self._database = cache(Database)

    def covers(self, table: str, ranges: tuple[Range, ...], by: str = "ts") -> bool:
        return self._local_rows.covers(table, ranges, by)

    def newest_after(self, table: str, by: str, rows: int) -> int | None:
        return self._local_rows.newest_after(table, by, rows)

    def fetch(self, statement: Statement) -> list[Row]:
        """Return the rows of a statement, its own or those of the other engine."""
        found = self._answer(statement) if statement.views else None
        if found is not None:
            return found
        other = self._opened()
        try:
            with other.limit(max(self._deadline - time.monotonic(), 0.0)):
                return other.fetch(statement)
        except TooSlowError:
            if self._allowed == math.inf:
                raise
            raise too_slow(self._allowed) from None

    def _opened(self) -> Engine:
        """Return the other engine; while it is opened, the time of the statements stands still."""
        began = time.monotonic()
        other = self._other()
        self._deadline += time.monotonic() - began
        return other

    def _answer(self, statement: Statement) -> list[Row] | None:
        """Return the rows of a statement; None if they are not to be had here."""
        text = sqlite_sql(statement)
        views = self._views(statement, SHARED | OTHERS & set(_NAME.findall(text)))
        if views is None:
            return None
        end = time.thread_time() + MOST_SECONDS

        def is_late() -> bool:
            return time.thread_time() > end or time.monotonic() > self._deadline

        try:
            with self._database().holding(views, statement.relations) as db:
                db.set_progress_handler(is_late, STEPS)
                try:
                    found = db.execute(text).fetchmany(MOST_ROWS + 1)
                finally:
                    db.set_progress_handler(None, 0)
        except (sqlite3.Error, UnsureError, OverflowError) as error:
            event("statement_left_to_spark", error=type(error).__name__)
            return None
        return found if len(found) <= MOST_ROWS else None

    def _views(self, statement: Statement, columns: Collection[str]) -> list[ViewRows] | None:
        """Return the rows of each view; None if they are many."""
        room = MOST_ROWS - sum(len(relation.rows) for relation in statement.relations)
        size = 0
        views = []
        for view in statement.views:
            rows = self._local_rows.rows(view, statement, columns) if room >= 0 else None
            if rows is None:
                return None
            room -= rows.num_rows
            size += rows.nbytes
            views.append((view, self._local_rows.key(view, statement, columns), rows))
        return views if room >= 0 and size <= MOST_BYTES else None
