"""Private parts of the Spark Connect client that the engine uses, all in one place.

With ``SparkSession.sql`` and ``DataFrame.toArrow`` Spark would analyse a statement three times, and
to analyse a large one takes as long as to run it.  ``createDataFrame`` asks the server for settings
each time, and ``conf.set`` is a call too: each takes milliseconds, and a round makes dozens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema

INLINE = 512 * 1024
"""Bytes of rows up to which they are part of the statement; more are sent before it, in chunks."""

_settings: WeakKeyDictionary[Any, dict[str, str]] = WeakKeyDictionary()


def query(session: Any, sql: str, frames: Mapping[str, Any], most_rows: int) -> pa.Table:
    """Return up to ``most_rows`` of a statement that reads the frames by their names."""
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.plan import SQL, SubqueryAlias

    views = [SubqueryAlias(frame._plan, name) for name, frame in frames.items()]
    result = DataFrame(SQL(sql, [], {}, views), session).limit(most_rows)
    return result._to_table()[0]


def frame_of(session: Any, rows: pa.Table) -> Any:
    """Return rows as a DataFrame; the client cannot infer the columns of no rows."""
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.plan import LocalRelation

    if not rows.num_rows:
        return session.createDataFrame([], from_arrow_schema(rows.schema))
    if rows.nbytes > INLINE:
        return session.createDataFrame(rows)
    return DataFrame(LocalRelation(rows), session)


def configure(session: Any, settings: Mapping[str, str]) -> None:
    """Set those settings of a session that this process has not set to the same already."""
    known = _settings.setdefault(session, {})
    for name, value in settings.items():
        if known.get(name) != value:
            session.conf.set(name, value)
            known[name] = value
