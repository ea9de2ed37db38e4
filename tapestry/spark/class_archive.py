"""Make the archive of Spark's classes, with which each server of this installation starts sooner.

    python -m tapestry.spark.class_archive

A server answers statements of all kinds, and ends; the JVM then writes what it has loaded, parsed
and verified (class data sharing: "Class Data Sharing" in the manual of Java 17).
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import PySparkException

from tapestry.core.errors import TapestryError
from tapestry.core.files.durable import sync_file
from tapestry.core.processes.child_process import stop
from tapestry.spark import server
from tapestry.spark.client import frame_of, query
from tapestry.spark.session import connect

STATEMENTS = (
    "SELECT count(*), max(size) FROM {mail} WHERE subject LIKE '%a_b%' "
    "OR lower(subject) RLIKE 'x+'",
    "SELECT m.msgid, r.ts FROM {mail} m JOIN {mail} r ON r.inreplyto = m.msgid "
    "JOIN asked q ON q.msgid = m.msgid AND q.ts < r.ts ORDER BY r.ts DESC LIMIT 10",
    "SELECT m.msgid FROM {mail} m LEFT ANTI JOIN {mail} r ON r.inreplyto = m.msgid AND r.ts > m.ts",
    "SELECT msgid, ts FROM {mail} WHERE EXISTS (SELECT 1 FROM asked q WHERE array_contains("
    "q.words, msgid)) UNION ALL SELECT msgid, 0 FROM {mail} WHERE exists(words, w -> w = 'a')",
    "SELECT word, count(DISTINCT msgid), avg(size) FROM (SELECT msgid, size, explode(words) word "
    "FROM {mail}) GROUP BY word HAVING count(*) > 1",
    "SELECT msgid, row_number() OVER (PARTITION BY inreplyto ORDER BY ts) n FROM {mail}",
    "SELECT msgid, aggregate(array_sort(collect_list(ts)), 0L, (s, t) -> s + t) FROM asked "
    "GROUP BY msgid",
)
"""Joins, absence, words, counts and order, over a file and over rows that come with the statement.
Whatever another statement needs is loaded as before."""

DUMP = 120.0
"""Seconds within which the JVM writes the archive as it ends."""


def make() -> None:
    """Make ``server.CLASSES`` anew.

    TapestryError if Spark does not start, or the JVM does not write it to its end: a JVM dies of
    an archive that is cut off.
    """
    made = server.CLASSES.with_suffix(".new")
    for old in (made, server.CLASSES):
        old.unlink(missing_ok=True)
    options = f'{server.SHORT_LIVED} "-XX:ArchiveClassesAtExit={made}"'
    with TemporaryDirectory(prefix="tapestry-") as place:
        started = server.start(Path(place), jvm_options=options)
        try:
            started.wait(300)
            _ask(connect(started.remote, os.geteuid()), Path(place) / "mail.parquet")
        finally:
            stop([started.child], grace=DUMP)
    if started.child.process.returncode == -signal.SIGKILL or not made.exists():
        made.unlink(missing_ok=True)
        raise TapestryError("The JVM has not written an archive of the classes it loads.")
    sync_file(made)
    made.rename(server.CLASSES)


def _ask(session: object, file: Path) -> None:
    rows = pa.table(
        {
            "msgid": ["a", "b", "c"],
            "inreplyto": ["b", None, "b"],
            "subject": ["a b", None, "axb"],
            "words": [["a"], [], ["a", "b"]],
            "ts": [1, 2, 3],
            "size": [1.5, None, 3.0],
        }
    )
    pq.write_table(rows, file)
    asked = frame_of(session, rows)
    for statement in STATEMENTS:
        query(session, statement.format(mail=f"parquet.`{file}`"), {"asked": asked}, 100)


if __name__ == "__main__":
    try:
        make()
    except (TapestryError, PySparkException, OSError) as error:
        print(f"{error} Spark works without it, and starts more slowly.", file=sys.stderr)
