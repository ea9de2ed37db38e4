"""The predicate index in memory: its files as Arrow columns and two runs of sorted hashes.

    keys ─ key_hash ─> entries ─> candidate groups          groups ─ query_hash ─> members

A file is read once and never changes; then each key is a bisection, so that the filters that
a window does not concern cost nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tapestry.core.files.sorted_hashes import SortedHashes
from tapestry.plan.predicate_keys import PredicateKey
from tapestry.predicate_index.groups import EvaluationGroup, Member, visible_audiences
from tapestry.predicate_index.store import PredicateIndex, key_hashes, query_hashes
from tapestry.tables.delta.parquet_file import read_parquet

Numbers = np.ndarray[Any, np.dtype[np.int64]]

TEXTS = ("signature", "constants", "audiences")
"""Columns with few distinct rows: read as codes."""


FILES = 16
"""Files whose entries are one segment: the fewer segments, the fewer bisections."""

MOST_INTERNED = 200_000
"""Groups of which one object is kept for all segments."""

MOST_KNOWN = 200_000
"""Groups that are kept with a segment."""

_interned: dict[EvaluationGroup, EvaluationGroup] = {}

_loaded: dict[Path, dict[tuple[str, ...], Segment]] = {}
"""The segments of the newest version of each part's index, by its directory and their files."""


class InMemoryLookup:
    """Looks up the version of the index that is the newest when the object is made.

    ``present`` are the audiences that some row has.
    """

    def __init__(self, index: PredicateIndex, present: Collection[str]) -> None:
        self.extractors = index.extractors
        self.representatives = index.representatives
        self.present = frozenset(present)
        self._index = index
        self._segments = _segments(index.directory, index.files())

    def candidate_groups(self, keys: Collection[PredicateKey]) -> list[EvaluationGroup]:
        """Return the groups that have one of the keys, in order."""
        hashes = np.unique(key_hashes(keys))
        groups: dict[int, EvaluationGroup] = {}  # by identity: most are interned
        for segment in self._segments:
            codes = np.unique(segment.codes[segment.key_hashes.find(hashes)])
            groups.update((id(group), group) for group in self._groups(segment, codes).values())
        return sorted(set(groups.values()))

    def members(self, groups: Collection[EvaluationGroup]) -> list[Member]:
        """Return the disjuncts of filters that belong to the groups, of each file once."""
        wanted = set(groups)
        hashes = np.unique(query_hashes(wanted))
        members: list[Member] = []
        for segment in self._segments:
            rows = segment.query_hashes.find(hashes)
            codes = segment.codes[rows]
            group_of = {
                code: group
                for code, group in self._groups(segment, np.unique(codes)).items()
                if group in wanted
            }
            rows = rows[np.isin(codes, list(group_of))]
            found = [segment.codes[rows], *(column[rows] for column in segment.numbers)]
            # A disjunct has an entry for each of its keys.
            distinct = np.unique(np.stack(found), axis=1)
            members += [
                Member(filter_id, revision, disjunct, group_of[code])
                for code, filter_id, revision, disjunct in distinct.T.tolist()
            ]
        return members

    def groups_with(self, extractors: Collection[str]) -> list[EvaluationGroup]:
        """Return all groups that have a key of one of the extractors, read from the files."""
        return sorted({group for group, _ in self._read("extractor", extractors)})

    def filters_of(self, groups: Collection[EvaluationGroup]) -> set[int]:
        """Return the filters that were ever entered with one of the groups, read from the files."""
        wanted = set(groups)
        read = self._read("signature", {group.signature for group in wanted})
        return {filter_id for group, filter_id in read if group in wanted}

    def _read(self, column: str, values: Collection[str]) -> Iterator[tuple[EvaluationGroup, int]]:
        """Yield the group and the filter of each entry with one of the values in a column."""
        for path in self._index.files():
            rows = read_parquet(path)
            rows = rows.filter(pc.is_in(rows[column], pa.array(sorted(values), pa.string())))
            names = (*TEXTS, "filter_id")
            for signature, constants, audiences, filter_id in zip(
                *(rows[name].to_pylist() for name in names), strict=True
            ):
                visible = visible_audiences(audiences.split("\n"), self.present)
                yield EvaluationGroup(signature, constants, visible), filter_id

    def _groups(self, segment: Segment, codes: Numbers) -> dict[int, EvaluationGroup]:
        """Return the groups that the codes of a segment stand for, by code.

        Many filters are candidates in each window: their groups are kept with the segment.
        """
        known = segment.known.get(self.present)
        if known is None or len(known) > MOST_KNOWN:
            segment.known.clear()
            known = segment.known[self.present] = {}
        wanted = codes.tolist()
        new = [code for code in wanted if code not in known]
        if new:
            known.update(self._new_groups(segment, new))
        return {code: known[code] for code in wanted}

    def _new_groups(
        self, segment: Segment, codes: Sequence[int]
    ) -> Iterator[tuple[int, EvaluationGroup]]:
        chosen = segment.texts.take(pa.array(codes))
        signatures, constants, entered = (
            chosen[name].cast(pa.string()).to_pylist() for name in TEXTS
        )
        visible = {
            audiences: visible_audiences(audiences.split("\n"), self.present)
            for audiences in set(entered)
        }
        if len(_interned) > MOST_INTERNED:
            _interned.clear()
        groups = map(EvaluationGroup, signatures, constants, map(visible.__getitem__, entered))
        for code, group in zip(codes, groups, strict=True):
            yield code, _interned.setdefault(group, group)


@dataclass(frozen=True, slots=True)
class Segment:
    """The entries of some files; both runs of hashes give the numbers of rows.

    ``numbers`` are filter_id, revision and disjunct; ``codes`` number the rows of ``texts``.
    ``known`` are groups by their codes, as far as they were asked for, given the audiences that
    some row has.
    """

    key_hashes: SortedHashes
    query_hashes: SortedHashes
    numbers: tuple[Numbers, Numbers, Numbers]
    codes: Numbers
    texts: pa.Table
    known: dict[frozenset[str], dict[int, EvaluationGroup]] = field(default_factory=dict)


def _segments(directory: Path, paths: Sequence[str]) -> list[Segment]:
    """Return the entries of all files; those of ``FILES`` files, from the oldest on, are one."""
    whole = len(paths) - len(paths) % FILES
    chunks = [tuple(paths[begin : begin + FILES]) for begin in range(0, whole, FILES)]
    chunks += [(path,) for path in paths[whole:]]
    loaded = _loaded.get(directory, {})
    segments = {chunk: loaded.get(chunk) or _segment(chunk) for chunk in chunks}
    for other in [path for path in _loaded if path.parent != directory.parent]:
        _loaded.pop(other, None)
    _loaded[directory] = segments
    return list(segments.values())


def _segment(paths: tuple[str, ...]) -> Segment:
    names = ("filter_id", "revision", "disjunct", "key_hash", "query_hash")
    columns = [*names, *TEXTS]
    entries = pa.concat_tables(
        read_parquet(path, columns, read_dictionary=list(TEXTS)) for path in paths
    )
    filter_ids, revisions, disjuncts, *hashes = (entries[name].to_numpy() for name in names)
    rows = np.arange(entries.num_rows, dtype=np.int32)
    by_key, by_query = (SortedHashes.sort(column.view("<u8"), rows) for column in hashes)
    codes, texts = _encoded(entries.select(TEXTS))
    return Segment(by_key, by_query, (filter_ids, revisions, disjuncts), codes, texts)


def _encoded(texts: pa.Table) -> tuple[Numbers, pa.Table]:
    """Return each row's code, and the distinct rows in the order of their codes."""
    columns = [texts[name].unify_dictionaries().combine_chunks() for name in TEXTS]
    combined = np.zeros(texts.num_rows, dtype=np.int64)
    for column in columns:
        combined = combined * max(len(column.dictionary), 1) + column.indices.to_numpy()
    _, first, codes = np.unique(combined, return_index=True, return_inverse=True)
    distinct = pa.table([column.take(pa.array(first)) for column in columns], names=list(TEXTS))
    return codes.astype(np.int64), distinct
