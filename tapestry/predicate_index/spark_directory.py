"""The index asked, through Spark if it is large: who is awake, and who belongs to what."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException

from tapestry.core.errors import TapestryError
from tapestry.plan.predicate_keys import PredicateKey
from tapestry.predicate_index.groups import EvaluationGroup, Member
from tapestry.predicate_index.lookup import InMemoryLookup
from tapestry.predicate_index.store import PredicateIndex, hash_key, hash_query

ENTRIES = """
    filter_id bigint, revision bigint, disjunct bigint, signature string, constants string,
    audiences string, key_hash bigint, query_hash bigint
"""

SEEN = "array_sort(array_intersect(split(r.audiences, '\\n'), p.names))"

AWAKE = f"""
    SELECT /*+ BROADCAST(k), BROADCAST(p) */ DISTINCT r.signature, r.constants, {SEEN}
    FROM {{entries}} r JOIN {{keys}} k ON r.key_hash = k.key_hash CROSS JOIN {{present}} p
"""

HOLDERS = f"""
    SELECT /*+ BROADCAST(c), BROADCAST(p) */ DISTINCT r.filter_id, r.revision, r.disjunct, c.number
    FROM {{entries}} r JOIN {{classes}} c ON r.query_hash = c.query_hash CROSS JOIN {{present}} p
    WHERE r.signature = c.signature AND r.constants = c.constants AND {SEEN} = c.audiences
"""


IN_MEMORY = 10_000_000
"""Entries up to which the index is kept in memory, of some 60 bytes each and their texts."""


def lookup(
    connect: Callable[[], Any], index: PredicateIndex, most: int = IN_MEMORY
) -> InMemoryLookup | SparkDirectory:
    """Return what answers from the index: by itself, or through Spark if it is very large."""
    if index.size() <= most:
        return InMemoryLookup(index)
    return SparkDirectory(connect, index)


class SparkDirectory:
    """The index's newest version, resolved once; connects to Spark when it has to."""

    def __init__(self, connect: Callable[[], Any], index: PredicateIndex) -> None:
        self._connect = connect
        self.index = index
        self._files = index.files()

    def extractors(self) -> Mapping[str, Collection[int]]:
        """Return the offsets that are entered, by extractor."""
        return self.index.extractors()

    def representatives(self) -> Mapping[str, str]:
        """Return the text of a filter for each signature."""
        return self.index.representatives()

    def candidate_groups(
        self, keys: Collection[PredicateKey], present: Collection[str]
    ) -> list[EvaluationGroup]:
        """Return the classes that one of the keys wakes; of audiences only those present."""
        if not keys:
            return []
        hashes = [hash_key(key.extractor, key.offset, key.token) for key in keys]
        rows = pa.table({"key_hash": pa.array(hashes, pa.int64())})
        found = self._ask(AWAKE, present, keys=rows)
        return sorted(
            EvaluationGroup(signature, values, tuple(who)) for signature, values, who in found
        )

    def members(self, some: Collection[EvaluationGroup], present: Collection[str]) -> list[Member]:
        """Return who belongs to these classes."""
        classes = list(some)
        if not classes:
            return []
        rows = pa.table(
            {
                "number": pa.array(range(len(classes)), pa.int64()),
                "query_hash": pa.array(
                    [hash_query(one.signature, one.constants) for one in classes], pa.int64()
                ),
                "signature": [one.signature for one in classes],
                "constants": [one.constants for one in classes],
                "audiences": pa.array([one.audiences for one in classes], pa.list_(pa.string())),
            }
        )
        found = self._ask(HOLDERS, present, classes=rows)
        return [Member(filter_id, rev, number, classes[of]) for filter_id, rev, number, of in found]

    def _ask(self, sql: str, present: Collection[str], **tables: pa.Table) -> list[Any]:
        session = self._connect()
        frames = {name: session.createDataFrame(rows) for name, rows in tables.items()}
        names = pa.table({"names": pa.array([sorted(present)], pa.list_(pa.string()))})
        frames["present"] = session.createDataFrame(names)
        frames["entries"] = session.read.schema(ENTRIES).parquet(*self._files)
        try:
            session.conf.set("spark.sql.codegen.wholeStage", "true")
            session.conf.set("spark.sql.codegen.factoryMode", "FALLBACK")
            return list(session.sql(sql, **frames).collect())
        except PySparkException as error:
            raise TapestryError(
                f"Spark did not answer: {str(error).strip().splitlines()[0]}",
                hint="Look at Spark's log in the data directory's run/, or restart Spark.",
            ) from error
