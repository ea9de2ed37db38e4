"""The index asked in memory: its files as Arrow columns and two sorted arrays of hashes.

A file is read once, then a key is found by bisection: what few tokens wake costs nothing for
the many filters that they do not wake.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tapestry.plan.predicate_keys import PredicateKey
from tapestry.predicate_index.groups import EvaluationGroup, Member, visible_audiences
from tapestry.predicate_index.store import PredicateIndex, hash_key, hash_query

Numbers = np.ndarray[Any, np.dtype[np.int64]]

TEXTS = ("signature", "constants", "audiences")
"""Of which few are unlike: read as codes."""


class InMemoryLookup:
    """The index's newest version, resolved once; what was read of older ones is read again."""

    def __init__(self, index: PredicateIndex) -> None:
        self.index = index
        self._files = [_file(path) for path in index.files()]

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
        hashes = _hashes(hash_key(key.extractor, key.offset, key.token) for key in keys)
        visible = _Visible(present)
        found: set[EvaluationGroup] = set()
        for file in self._files:
            candidate_keys = np.unique(file.texts[file.keys.rows(hashes)])
            found.update(file.candidate_groups(candidate_keys, visible).values())
        return sorted(found)

    def members(self, some: Collection[EvaluationGroup], present: Collection[str]) -> list[Member]:
        """Return who belongs to these classes."""
        wanted = set(some)
        hashes = _hashes(hash_query(one.signature, one.constants) for one in wanted)
        visible = _Visible(present)
        found: set[Member] = set()
        for file in self._files:
            rows = file.query_hash.rows(hashes)
            texts = file.texts[rows]
            classes = file.candidate_groups(np.unique(texts), visible)
            numbers = (column[rows].tolist() for column in file.numbers)
            for text, filter_id, revision, disjunct in zip(texts.tolist(), *numbers, strict=True):
                if classes[text] in wanted:
                    found.add(Member(filter_id, revision, disjunct, classes[text]))
        return list(found)


class _Visible(dict[str, tuple[str, ...]]):
    """Audiences as they are entered, to those of them that are present."""

    def __init__(self, present: Collection[str]) -> None:
        self._present = frozenset(present)

    def __missing__(self, audiences: str) -> tuple[str, ...]:
        self[audiences] = visible_audiences(audiences.split("\n"), self._present)
        return self[audiences]


@dataclass(frozen=True, slots=True)
class Sorted:
    """Hashes in order, and the row that each is of."""

    hashes: Numbers
    places: np.ndarray[Any, np.dtype[np.int32]]

    @classmethod
    def of(cls, hashes: Numbers) -> Sorted:
        """Sort the hashes of all rows."""
        order = np.argsort(hashes, kind="stable")
        return cls(hashes[order], order.astype(np.int32))

    def rows(self, wanted: Numbers) -> Numbers:
        """Return the rows that have one of the hashes; ``wanted`` has each once."""
        low = np.searchsorted(self.hashes, wanted, "left")
        high = np.searchsorted(self.hashes, wanted, "right")
        hit = np.flatnonzero(low < high)
        low, many = low[hit], (high - low)[hit]
        # Each begins where those before it end: 0, 1, 2, … from its own ``low`` on.
        begin = np.repeat(low - np.concatenate(([0], np.cumsum(many)[:-1])), many)
        return self.places[begin + np.arange(many.sum())].astype(np.int64)


@dataclass(frozen=True, slots=True)
class File:
    """The entries of one file: numbers as they are, unlike texts by their code."""

    keys: Sorted
    query_hash: Sorted
    numbers: tuple[Numbers, Numbers, Numbers]
    texts: Numbers
    unlike: pa.Table

    def candidate_groups(
        self, texts: Numbers, visible: Mapping[str, tuple[str, ...]]
    ) -> dict[int, EvaluationGroup]:
        """Return the classes that some codes of texts stand for."""
        chosen = self.unlike.take(pa.array(texts))
        found: dict[int, EvaluationGroup] = {}
        columns = (chosen[name].cast(pa.string()).to_pylist() for name in TEXTS)
        for code, signature, constants, audiences in zip(texts.tolist(), *columns, strict=True):
            found[code] = EvaluationGroup(signature, constants, visible[audiences])
        return found


@lru_cache(maxsize=512)
def _file(path: str) -> File:
    numbers = ("filter_id", "revision", "disjunct", "key_hash", "query_hash")
    rows = pq.read_table(path, columns=[*numbers, *TEXTS], read_dictionary=list(TEXTS))
    filter_id, revision, disjunct, key_hash, query_hash = (
        rows[name].to_numpy() for name in numbers
    )
    codes, unlike = _unlike(rows.select(TEXTS))
    return File(
        Sorted.of(key_hash), Sorted.of(query_hash), (filter_id, revision, disjunct), codes, unlike
    )


def _unlike(texts: pa.Table) -> tuple[Numbers, pa.Table]:
    """Return each row's code, and the unlike rows in the order of their codes."""
    columns = [texts[name].unify_dictionaries().combine_chunks() for name in TEXTS]
    joint = np.zeros(texts.num_rows, dtype=np.int64)
    for column in columns:
        joint = joint * max(len(column.dictionary), 1) + column.indices.to_numpy()
    _, first, codes = np.unique(joint, return_index=True, return_inverse=True)
    unlike = pa.table([column.take(pa.array(first)) for column in columns], names=list(TEXTS))
    return codes.astype(np.int64), unlike


def _hashes(numbers: Iterator[int]) -> Numbers:
    return np.unique(np.fromiter(numbers, dtype=np.int64))
