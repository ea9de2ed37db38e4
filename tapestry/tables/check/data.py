"""Scrub the tables: data files against their log, originals and indexes against the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tapestry.core.files.checksummed_file import ChecksummedFile
from tapestry.core.files.damage import DamagedFileError
from tapestry.core.files.mirror import read_mirror
from tapestry.core.files.sorted_hashes import (
    Hashes,
    MappedHashes,
    SortedHashes,
    contains,
    hash_texts,
)
from tapestry.core.schema import INDEXED, MESSAGES
from tapestry.tables.check.log_files import LogContent, check_mirrors, read_log
from tapestry.tables.check.report import BY_ITSELF, BY_REPAIR, RESTORE, Report
from tapestry.tables.delta.parquet_file import open_parquet, verify_whole
from tapestry.tables.keys import hash_runs
from tapestry.tables.keys.runs import SUFFIX
from tapestry.tables.keys.tombstones import tombstone_directories
from tapestry.tables.read.file_facts import facts_of
from tapestry.tables.rows import ORIGINALS, bounded
from tapestry.tables.write.staging import verify_batch

DATA, INDEX, STAGING = "data files", "indexes", "staged imports"
TOMBSTONES, REMOVALS = "tombstones", "removals that did not end"


def check_data_files(root: Path, content: LogContent, report: Report) -> list[Path]:
    """Verify each file of a table, and count its rows; return those that are whole."""
    whole = []
    for name, rows in sorted(content.rows.items()):
        path = root / name
        report.read(DATA, "files")
        try:
            verify_whole(path)
            with open_parquet(path) as file:
                found = file.metadata.num_rows
            if found != rows:
                raise DamagedFileError(path, f"it has {found} rows, and the log says {rows}")
        except (DamagedFileError, FileNotFoundError) as error:
            if not path.exists() and name not in read_log(root, Report()).rows:
                continue  # removed meanwhile, for good
            reason = error.reason if isinstance(error, DamagedFileError) else "it is missing"
            meaning = f"{rows} rows are in it: what needs them stops"
            report.damaged(DATA, path, reason, meaning, RESTORE)
            continue
        report.read(DATA, "rows", found)
        whole.append(path)
    for path in sorted(root.glob("*.parquet")):
        if path.name not in content.rows:
            report.read(DATA, "older files")
            try:
                verify_whole(path)
            except FileNotFoundError:
                continue  # its time was over
            except DamagedFileError as error:
                meaning = "no version that is read has it"
                report.damaged(DATA, path, error.reason, meaning, BY_REPAIR)
    return whole


def row_keys(paths: Sequence[Path], columns: Sequence[str]) -> Hashes:
    """Return a sorted hash of what each row has in some columns."""
    hashes = [np.empty(0, dtype="<u8")]
    for path in paths:
        with open_parquet(path) as file:
            for batch in file.iter_batches(columns=list(columns)):
                rows = zip(*(batch[name].to_pylist() for name in columns), strict=True)
                hashes.append(hash_texts("\0".join(map(str, row)) for row in rows))
    return np.sort(np.concatenate(hashes))


def check_originals(
    root: Path, messages: Sequence[Path], originals: Sequence[Path], report: Report
) -> None:
    """Report messages whose original is not stored; call it if all files of both are whole."""
    if not originals:
        return
    identity = ("msgid", "audience", "ts")
    of_messages, stored = row_keys(messages, identity), row_keys(originals, identity)
    report.read(ORIGINALS, "originals", len(stored))
    missing = int((~contains(stored, of_messages)).sum()) if len(stored) else len(of_messages)
    if missing:
        meaning = "their pages show them, and the bytes as they came are lost"
        path = root / ORIGINALS
        report.damaged(ORIGINALS, path, f"{missing} messages have no original", meaning, RESTORE)


def check_index(
    table: str, runs: Mapping[str, Sequence[Path]], whole: Sequence[Path], report: Report
) -> None:
    """Verify each run of a table's index, by column, and compare it with the rows of the files."""
    width = len(bounded(table))
    for column, paths in runs.items():
        for path in paths:
            report.read(INDEX, "files")
            low, high, count = map(int, path.stem.split("_"))
            try:
                run = MappedHashes(str(path), count, width).load()
                report.read(INDEX, "entries", count)
                rows = _entries_between(whole, table, column, low, high)
                if not _same(run, rows):
                    raise DamagedFileError(path, "its entries are not those of the table")
            except DamagedFileError as error:
                meaning = "until it is made anew, more of the table is read for each lookup"
                report.damaged(INDEX, path, error.reason, meaning, BY_ITSELF)
            except FileNotFoundError:
                continue  # merged meanwhile


def _runs(root: Path, table: str) -> dict[str, list[Path]]:
    return {
        column: sorted(hash_runs.index_runs(root, table, column).directory.glob(f"*{SUFFIX}"))
        for column in hash_runs.index_names(table)
    }


def _entries_between(
    paths: Sequence[Path], table: str, column: str, low: int, high: int
) -> SortedHashes:
    keys, places = [np.empty(0, dtype="<u8")], [np.empty((0, len(bounded(table))), dtype="<i8")]
    for path in paths:
        least, greatest = facts_of(str(path)).bounds()
        if least.min(initial=high) > high or greatest.max(initial=low) <= low:
            continue
        hashes, instants = hash_runs.entries_of(str(path), table, column)
        between = (instants[:, 0] > low) & (instants[:, 0] <= high)
        keys.append(hashes[between])
        places.append(instants[between])
    return SortedHashes(np.concatenate(keys), np.concatenate(places))


def _same(run: SortedHashes, rows: SortedHashes) -> bool:
    """Return whether two runs have the same entries, in any order."""
    if len(run.hashes) != len(rows.hashes):
        return False
    ordered = []
    for entries in (run, rows):
        columns = [*entries.values.T[::-1], entries.hashes]
        order = np.lexsort(columns)
        ordered.append([column[order] for column in columns])
    return all(bool((a == b).all()) for a, b in zip(*ordered, strict=True))


def check_mirrored(kind: str, directory: Path, meaning: str, report: Report) -> None:
    """Verify each file of a directory of mirrored files, and each mirror."""
    for path in sorted(directory.glob("*")):
        report.read(kind, "files")
        try:
            ChecksummedFile(path).read()
        except FileNotFoundError:
            continue  # merged meanwhile
        except DamagedFileError as error:
            if read_mirror(path, checksummed=True) is None:
                report.damaged(kind, path, error.reason, meaning, RESTORE)
            else:
                report.damaged(kind, path, error.reason, "its mirror is whole", BY_ITSELF)
    check_mirrors(kind, directory, report, checksummed=True)


def check_staging(root: Path, report: Report) -> None:
    """Verify each staged batch."""
    for path in sorted((root / "staging").glob("*/*.arrow")):
        report.read(STAGING, "batches")
        try:
            verify_batch(path)
        except DamagedFileError as error:
            meaning = "nothing is lost: the import is read again from its start"
            report.damaged(STAGING, path, error.reason, meaning, BY_ITSELF)
        except FileNotFoundError:
            continue  # published meanwhile


def check_tables(root: Path, report: Report) -> dict[str, LogContent]:
    """Check all that is under the directory of the tables, except the predicate index.

    It only reads; others may append meanwhile.  Return what the logs hold.
    """
    contents: dict[str, LogContent] = {}
    whole: dict[str, list[Path]] = {}
    # What is derived is listed before its source, and messages before originals: what others
    # append meanwhile is then in the source.
    runs = {table: _runs(root, table) for table in INDEXED}
    for table in (*INDEXED, ORIGINALS):
        if (root / table).is_dir():
            contents[table] = read_log(root / table, report)
            whole[table] = check_data_files(root / table, contents[table], report)
    complete = {
        table
        for table, content in contents.items()
        if content.is_whole and len(whole[table]) == len(content.rows)
    }
    for table in INDEXED:
        if table in complete:
            check_index(table, runs[table], whole[table], report)
    if {MESSAGES, ORIGINALS} <= complete:
        check_originals(root, whole[MESSAGES], whole[ORIGINALS], report)
    for directory in tombstone_directories(root):
        meaning = "no mail of this audience can be appended"
        check_mirrored(TOMBSTONES, directory, meaning, report)
    meaning = "what is removed of this audience cannot be told to its filters"
    check_mirrored(REMOVALS, root / "forgetting", meaning, report)
    check_staging(root, report)
    return contents
