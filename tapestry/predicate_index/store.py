"""The predicate index of publish/subscribe: which filters a new row may concern, as Delta tables.

    filter ─> its disjuncts ─ predicate keys ─> an entry for each key ─> files ─ compact ─> one file

An entry is a disjunct of an enrolled filter and one of its predicate keys.  Entries are only ever
appended, as in incremental grouping [Chen00 §3.2.3]: a filter that has changed is entered anew with
its next revision, and the reader asks the application which revision is the present one.  The index
can be made anew from the database at any time: if a file of it is damaged, it is deleted and counts
as missing.
"""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from tapestry.core.errors import TapestryError
from tapestry.core.files.damage import DamagedFileError, mended
from tapestry.core.files.durable import remove_directory
from tapestry.core.files.sorted_hashes import Hashes, hash_texts
from tapestry.core.ports import DueFilter
from tapestry.plan.compile import Compiled, Plan
from tapestry.plan.predicate_keys import PredicateKey, predicate_keys
from tapestry.plan.signature import Constant, values_by_slot
from tapestry.predicate_index.files import files_of, verify_table, write_rows
from tapestry.predicate_index.groups import EvaluationGroup, Member
from tapestry.tables.delta.parquet_file import parquet_footer, read_parquet

_COLUMNS = {
    "filter_id": pa.int64(),
    "revision": pa.int64(),
    "disjunct": pa.int64(),
    "signature": pa.string(),
    "constants": pa.string(),
    "audiences": pa.string(),
    "extractor": pa.string(),
    "offset": pa.int64(),
    "token": pa.string(),
    "key_hash": pa.int64(),
    "query_hash": pa.int64(),
}
SCHEMA = pa.schema([pa.field(name, kind, nullable=False) for name, kind in _COLUMNS.items()])
"""The columns of an entry, and two 64-bit hashes to join by: that of the predicate key, and that of
the query (signature and constants).  Two of a million may be equal by chance: ``key_hash`` then
evaluates a group in vain, and ``query_hash`` is not trusted alone."""

REPRESENTATIVES = pa.schema(
    [pa.field(name, pa.string(), nullable=False) for name in ("signature", "text")]
)

NAME = "predicate_index"
"""The directory of the index of the first part; the number of another follows it."""

VERSION = 5
"""The version of columns, signatures, keys and tokens: an index of another counts as missing."""

MOST_ENTRIES = 10_000_000
"""Entries of the index at most: it is read into memory, some 60 bytes an entry, and its texts."""

MANY_FILES = 64
"""Files of entries that are merged into one."""

SHRINK_EVERY = 3600.0
"""Seconds after which a full index of one file is looked through for entries of the past."""


class IndexFullError(TapestryError):
    """The index has no room for some filters; they keep windows of their own."""

    def __init__(self, filters: int) -> None:
        super().__init__(
            f"The predicate index is full: it holds {MOST_ENTRIES:,} entries at most, "
            f"and {filters:,} filters are not in it.",
            hint="These run one by one, which takes longer; nothing is lost.  "
            "Delete or pause filters that nobody needs, or say more narrowly what they find.",
        )


Entry = tuple[Member, PredicateKey]
"""A disjunct of a filter, and one of its predicate keys; its group has all that its owner may see,
whether some row has that audience or not."""


def index_entries(due_filter: DueFilter, compiled: Compiled) -> tuple[list[Entry], dict[str, str]]:
    """Return the entries of a filter, and its text as the representative of its signatures."""
    entries = [
        entry
        for plan in compiled.plans
        for entry in disjunct_entries(due_filter, plan, plan.signature.constants)
    ]
    return entries, {plan.signature.name: due_filter.text for plan in compiled.plans}


def disjunct_entries(
    due_filter: DueFilter, plan: Plan, constants: Sequence[Constant]
) -> list[Entry]:
    """Return the entries of a filter's disjunct that has this plan, with these constants."""
    values = json.dumps([c.value for c in constants], separators=(",", ":"))
    group = EvaluationGroup(plan.signature.name, values, due_filter.audiences)
    index = plan.disjunct.monotone.index
    member = Member(due_filter.filter_id, due_filter.revision, index, group)
    return [(member, key) for key in predicate_keys(plan.disjunct, values_by_slot(constants))]


def key_hashes(keys: Iterable[PredicateKey]) -> Hashes:
    """Return a 64-bit hash of each predicate key."""
    return hash_texts(f"{key.extractor}\n{key.offset}\n{key.token}" for key in keys)


def query_hashes(groups: Iterable[EvaluationGroup]) -> Hashes:
    """Return a 64-bit hash of the query of each group: its signature and constants."""
    return hash_texts(f"{group.signature}\n{group.constants}" for group in groups)


class PredicateIndex:
    """Two tables: the entries, and a representative filter's text for each signature.

    Each part of the shared window has an index of its own.  Only one process at a time may add.
    """

    def __init__(self, root: Path, part: int = 0) -> None:
        self.directory = Path(root).absolute() / (f"{NAME}-{part}" if part else NAME)
        self._entries = self.directory / f"entries-{VERSION}"
        self._representatives = self.directory / f"representatives-{VERSION}"

    @classmethod
    def all_parts(cls, root: Path) -> list[Self]:
        """Return the index of each part that has one, of the first in any case."""
        names = (path.name.removeprefix(f"{NAME}-") for path in Path(root).glob(f"{NAME}-*"))
        return [cls(root, part) for part in (0, *sorted(int(n) for n in names if n.isdecimal()))]

    def add(self, entries: Sequence[Entry], representatives: Mapping[str, str]) -> None:
        """Append entries; ``representatives`` gives the text of a filter for each signature.

        Raises IndexFullError, and adds nothing, if there is no room for them.
        """
        if entries and len(entries) > self.room():
            raise IndexFullError(len({member.filter_id for member, _ in entries}))
        known = self.representatives()
        new = {key: text for key, text in representatives.items() if key not in known}
        if new:
            texts = {"signature": list(new), "text": list(new.values())}
            write_rows(self._representatives, pa.table(texts, schema=REPRESENTATIVES))
        if entries:
            columns: list[Any] = list(zip(*map(_row, entries), strict=True))
            columns.append(key_hashes(key for _, key in entries).view("<i8"))
            columns.append(query_hashes(member.group for member, _ in entries).view("<i8"))
            write_rows(self._entries, pa.table(columns, schema=SCHEMA))

    def representatives(self) -> dict[str, str]:
        """Return the text of a filter for each signature."""
        texts = map(_texts, files_of(self._representatives))
        return {signature: text for by_file in texts for signature, text in by_file.items()}

    def files(self) -> tuple[str, ...]:
        """Return the Parquet files of the newest version of the entries, the oldest first."""
        return files_of(self._entries)

    def room(self) -> int:
        """Return how many entries can be added, counting those of past revisions as entered."""
        rows: int = sum(parquet_footer(path).num_rows for path in self.files())
        return MOST_ENTRIES - rows

    def extractors(self) -> dict[str, set[int]]:
        """Return the offsets that are entered, by the name of their key extractor."""
        offsets: dict[str, set[int]] = defaultdict(set)
        for extractor, offset in chain.from_iterable(map(_offsets, self.files())):
            offsets[extractor].add(offset)
        return dict(offsets)

    def filter_counts(self) -> Counter[str]:
        """Return about how many filters have a disjunct of each signature.

        A filter that was entered again counts again, until the files are merged.
        """
        counts: Counter[str] = Counter()
        columns = ["signature", "filter_id"]
        for path in self.files():
            rows = read_parquet(path, columns, read_dictionary=["signature"])
            counted = rows.group_by("signature").aggregate([("filter_id", "count_distinct")])
            for row in counted.to_pylist():
                counts[row["signature"]] += row["filter_id_count_distinct"]
        return counts

    def extractors_by_signature(self) -> dict[str, set[str]]:
        """Return the names of the key extractors that are entered for each signature."""
        names: dict[str, set[str]] = defaultdict(set)
        columns = ["signature", "extractor"]
        for path in self.files():
            rows = read_parquet(path, columns, read_dictionary=columns)
            pairs = rows.group_by(columns).aggregate([])
            for signature, extractor in zip(
                pairs["signature"].to_pylist(), pairs["extractor"].to_pylist(), strict=True
            ):
                names[signature].add(extractor)
        return dict(names)

    def compact(
        self, current: Callable[[Collection[int]], Mapping[int, int]], *, full: bool = False
    ) -> bool:
        """Merge the files once there are many, and drop entries of past revisions.

        ``current`` returns the present revisions of those of the filters that exist: a filter
        that another run has entered, and is about to enroll, is kept.  ``full``: there was no
        room, so drop now.  No other process may read or add meanwhile.  Return whether there
        was anything to do.
        """
        files = self.files()
        shrinking = full and (
            len(files) > 1 or time.time() - Path(files[0]).stat().st_mtime > SHRINK_EVERY
        )
        if len(files) < MANY_FILES and not shrinking:
            return False
        rows = pa.concat_tables(read_parquet(path).select(SCHEMA.names) for path in files)
        rows = rows.cast(SCHEMA)
        filter_ids, places = np.unique(rows["filter_id"].to_numpy(), return_inverse=True)
        revisions = current(filter_ids.tolist())
        present = np.array([revisions.get(filter_id, -1) for filter_id in filter_ids.tolist()])
        kept = rows.filter(pa.array(present[places] == rows["revision"].to_numpy()))
        write_rows(self._entries, kept, instead_of=files)
        DeltaTable(str(self._entries)).vacuum(
            retention_hours=0, dry_run=False, enforce_retention_duration=False, full=True
        )
        return True

    def tables(self) -> tuple[Path, ...]:
        """Return the directories of the tables that there are."""
        both = (self._entries, self._representatives)
        return tuple(path for path in both if (path / "_delta_log").is_dir())

    def drop_if_damaged(self) -> None:
        """Delete the index, with a line of the log, if a file of it is not as it was written.

        What was verified is verified again only if it was changed.  No other process may add
        meanwhile.
        """
        try:
            for path in self.tables():
                verify_table(path)
        except (DamagedFileError, DeltaError, FileNotFoundError) as error:
            remove_directory(self.directory)
            damaged = error.path if isinstance(error, DamagedFileError) else self.directory
            reason = error.reason if isinstance(error, DamagedFileError) else str(error)
            mended(damaged, reason, "the predicate index is deleted; all filters are entered anew")

    def delete_other_versions(self) -> None:
        """Delete the index of other versions of the program, for it holds texts of filters."""
        for path in self.directory.glob("*"):
            if path not in (self._entries, self._representatives):
                shutil.rmtree(path, ignore_errors=True)


def _row(entry: Entry) -> tuple[object, ...]:
    """Return the columns of an entry, but for the hashes."""
    member, key = entry
    group = member.group
    audiences = "\n".join(group.audiences)
    texts = group.signature, group.constants, audiences
    return member.filter_id, member.revision, member.disjunct, *texts, *key


@lru_cache(maxsize=4096)
def _texts(path: str) -> dict[str, str]:
    rows = read_parquet(path)
    return dict(zip(rows["signature"].to_pylist(), rows["text"].to_pylist(), strict=True))


@lru_cache(maxsize=4096)
def _offsets(path: str) -> frozenset[tuple[str, int]]:
    rows = read_parquet(path, ["extractor", "offset"])
    pairs = rows.group_by(["extractor", "offset"]).aggregate([])
    return frozenset(zip(pairs["extractor"].to_pylist(), pairs["offset"].to_pylist(), strict=True))
