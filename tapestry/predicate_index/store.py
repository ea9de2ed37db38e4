"""The index: constant tables of the filters that run together, as Delta tables.

A row for each disjunct of a filter and each key that wakes it.  Rows are only ever appended:
a filter that has changed is entered anew with its next revision, and whoever reads checks
with the application that a revision is the present one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable, WriterProperties, write_deltalake
from deltalake.exceptions import DeltaError

from tapestry.core.errors import TapestryError

SCHEMA = pa.schema(
    [
        pa.field("filter_id", pa.int64(), nullable=False),
        pa.field("revision", pa.int64(), nullable=False),
        pa.field("disjunct", pa.int64(), nullable=False),
        pa.field("signature", pa.string(), nullable=False),
        pa.field("constants", pa.string(), nullable=False),
        pa.field("audiences", pa.string(), nullable=False),
        pa.field("extractor", pa.string(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("token", pa.string(), nullable=False),
        pa.field("key_hash", pa.int64(), nullable=False),
        pa.field("query_hash", pa.int64(), nullable=False),
    ]
)
"""The columns of an entry, and two 64-bit hashes to join by: that of the predicate key, and that of
the query (signature and constants).  Two of a million may be equal by chance: ``key_hash`` then
evaluates a group in vain, and ``query_hash`` is not trusted alone."""

REPRESENTATIVES = pa.schema(
    [pa.field(name, pa.string(), nullable=False) for name in ("signature", "text")]
)

VERSION = 2
"""Of what keys and tokens are: entries of another version wake nobody."""

MANY = 64
"""Files of entries that are merged into one."""

WRITER = WriterProperties(compression="ZSTD", compression_level=1)


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A disjunct of a filter, and one key that wakes it.

    ``constants`` is JSON, in slot order; ``audiences`` are what its owner may see.
    """

    filter_id: int
    revision: int
    disjunct: int
    signature: str
    constants: str
    audiences: tuple[str, ...]
    extractor: str
    offset: int
    token: str


def hash_key(extractor: str, offset: int, token: str) -> int:
    """Return the hash of what wakes a filter, a 64-bit integer."""
    return _hash(f"{extractor}\n{offset}\n{token}")


def hash_query(signature: str, constants: str) -> int:
    """Return the hash of what a disjunct asks, a 64-bit integer."""
    return _hash(f"{signature}\n{constants}")


def _hash(text: str) -> int:
    digest = blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


class PredicateIndex:
    """The two tables: what is entered, and of each signature a filter that has it.

    Objects of this class have no state but where the tables lie.  One process at a time adds.
    """

    def __init__(self, root: Path) -> None:
        self._entries = Path(root).absolute() / "predicate_index" / f"entries-{VERSION}"
        self._representatives = (
            Path(root).absolute() / "predicate_index" / f"representatives-{VERSION}"
        )

    def add(self, entries: Sequence[IndexEntry], representatives: Mapping[str, str]) -> None:
        """Append entries; ``representatives`` gives the text of a filter for each signature."""
        known = self.representatives()
        new = {key: text for key, text in representatives.items() if key not in known}
        if new:
            texts = {"signature": list(new), "text": list(new.values())}
            _write(self._representatives, pa.table(texts, schema=REPRESENTATIVES), "append")
        if entries:
            names = SCHEMA.names[:5] + SCHEMA.names[6:9]
            columns = {name: [getattr(one, name) for one in entries] for name in names}
            columns["audiences"] = ["\n".join(one.audiences) for one in entries]
            columns["key_hash"] = [
                hash_key(one.extractor, one.offset, one.token) for one in entries
            ]
            columns["query_hash"] = [hash_query(one.signature, one.constants) for one in entries]
            _write(self._entries, pa.table(columns, schema=SCHEMA), "append")

    def representatives(self) -> dict[str, str]:
        """Return the text of a filter for each signature."""
        found: dict[str, str] = {}
        for path in _files(self._representatives):
            found |= _texts(path)
        return found

    def files(self) -> list[str]:
        """Return the Parquet files of the newest version of the entries."""
        return _files(self._entries)

    def size(self) -> int:
        """Return the number of entries, those of past revisions among them."""
        return sum(pq.read_metadata(path).num_rows for path in self.files())

    def extractors(self) -> dict[str, set[int]]:
        """Return the offsets that are entered, by extractor."""
        found: dict[str, set[int]] = defaultdict(set)
        for path in self.files():
            for extractor, offset in _offsets(path):
                found[extractor].add(offset)
        return dict(found)

    def filter_count(self, signature: str) -> int:
        """Return about how many filters have a disjunct of this signature.

        One that was entered again counts again, until the files are merged.
        """
        try:
            changed = (self._entries / "_delta_log").stat().st_mtime_ns
        except FileNotFoundError:
            return 0
        return _counts(self._entries, changed).get(signature, 0)

    def compact(self, current: Callable[[Collection[int]], Mapping[int, int]]) -> bool:
        """Merge the files once there are many, and drop entries of revisions that are past.

        ``current`` returns the present revision of those of some filters that are there: one
        that another run has entered, and that is about to join, is kept.  Nobody else may
        read or add meanwhile.  Return whether there was anything to do.
        """
        files = self.files()
        if len(files) < MANY:
            return False
        rows = pa.concat_tables(pq.read_table(path, schema=SCHEMA) for path in files)
        revisions = current(pc.unique(rows["filter_id"]).to_pylist())
        pairs = zip(rows["filter_id"].to_pylist(), rows["revision"].to_pylist(), strict=True)
        kept = rows.filter(
            pa.array([revisions.get(filter_id) == rev for filter_id, rev in pairs], pa.bool_())
        )
        _write(self._entries, kept, "overwrite")
        DeltaTable(str(self._entries)).vacuum(
            retention_hours=0, dry_run=False, enforce_retention_duration=False
        )
        return True


def _write(path: Path, rows: pa.Table, mode: Literal["append", "overwrite"]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        write_deltalake(str(path), rows, mode=mode, writer_properties=WRITER)
    except (DeltaError, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise TapestryError(
            f"Filters cannot be entered in {path}: {reason}",
            hint="Make room on the disk, or make the directory yours to write; then run again.",
        ) from error


def _files(path: Path) -> list[str]:
    if not DeltaTable.is_deltatable(str(path)):
        return []
    return sorted(str(path / name) for name in _paths(DeltaTable(str(path))))


def _paths(table: DeltaTable) -> Iterable[str]:
    return [str(path) for path in pa.table(table.get_add_actions(flatten=True))["path"].to_pylist()]


@lru_cache(maxsize=4096)
def _texts(path: str) -> dict[str, str]:
    rows = pq.read_table(path)
    return dict(zip(rows["signature"].to_pylist(), rows["text"].to_pylist(), strict=True))


@lru_cache(maxsize=4096)
def _filters(path: str) -> dict[str, int]:
    rows = pq.read_table(path, columns=["signature", "filter_id"], read_dictionary=["signature"])
    apart = rows.group_by("signature").aggregate([("filter_id", "count_distinct")])
    names, counts = apart["signature"].to_pylist(), apart["filter_id_count_distinct"].to_pylist()
    return dict(zip(names, counts, strict=True))


@lru_cache(maxsize=4)
def _counts(entries: Path, _changed: int) -> Counter[str]:
    """Return the filters of each signature, as they were when the log last changed."""
    return sum((Counter(_filters(path)) for path in _files(entries)), Counter())


@lru_cache(maxsize=4096)
def _offsets(path: str) -> frozenset[tuple[str, int]]:
    rows = pq.read_table(path, columns=["extractor", "offset"])
    apart = rows.group_by(["extractor", "offset"]).aggregate([])
    return frozenset(zip(apart["extractor"].to_pylist(), apart["offset"].to_pylist(), strict=True))
