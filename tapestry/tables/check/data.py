"""Scrub the tables: data files against their log, originals and indexes against the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tapestry.core.files.checksummed_file import ChecksummedFile
from tapestry.core.files.damage import DamagedFileError
from tapestry.core.files.sorted_hashes import (
    Hashes,
    MappedHashes,
    SortedHashes,
    contains,
    hash_texts,
)
from tapestry.core.schema import INDEXED, MESSAGES
from tapestry.tables import hash_runs, tombstones
from tapestry.tables.check.log_files import LogContent, read_log
from tapestry.tables.check.report import BY_ITSELF, BY_REPAIR, Report
from tapestry.tables.delta.parquet_file import open_parquet, verify_whole
from tapestry.tables.find import group_bounds
from tapestry.tables.rows import ORIGINALS, bounded
from tapestry.tables.staging import verify_batch

DATA, INDEX, TOMBSTONES, STAGING = "data files", "indexes", "tombstones", "staged imports"


LOST_MAIL = "lost_mail"
"""The file that says that a repair has lost mail, until its sources and votes are set back."""


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
            report.damaged(DATA, path, reason, meaning, BY_REPAIR)
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
                meaning = "no version that is read has it: it is kept for a week"
                report.damaged(DATA, path, error.reason, meaning, BY_REPAIR)
    return whole


def row_keys(paths: Sequence[Path]) -> Hashes:
    """Return a sorted hash of each row of messages or originals: Message-ID, audience and ts."""
    hashes = [np.empty(0, dtype="<u8")]
    for path in paths:
        with open_parquet(path) as file:
            for batch in file.iter_batches(columns=["msgid", "audience", "ts"]):
                columns = (batch[name].to_pylist() for name in ("msgid", "audience", "ts"))
                texts = ("\0".join(map(str, row)) for row in zip(*columns, strict=True))
                hashes.append(hash_texts(texts))
    return np.sort(np.concatenate(hashes))


def message_keys(paths: Sequence[Path]) -> Hashes:
    """Return a sorted hash of the Message-ID and the audience of each message."""
    hashes = [np.empty(0, dtype="<u8")]
    for path in paths:
        with open_parquet(path) as file:
            for batch in file.iter_batches(columns=["msgid", "audience"]):
                pairs = zip(batch["msgid"].to_pylist(), batch["audience"].to_pylist(), strict=True)
                hashes.append(hash_texts(map("\0".join, pairs)))
    return np.sort(np.concatenate(hashes))


def check_originals(
    root: Path, messages: Sequence[Path], originals: Sequence[Path], report: Report
) -> None:
    """Report messages whose original is not stored; call it if all files of both are whole."""
    if not originals:
        return
    of_messages, stored = row_keys(messages), row_keys(originals)
    report.read(ORIGINALS, "originals", len(stored))
    missing = int((~contains(stored, of_messages)).sum()) if len(stored) else len(of_messages)
    if missing:
        meaning = "their pages show them, and the bytes as they came are lost"
        remedy = "restore a backup of the data directory, if there is one"
        path = root / ORIGINALS
        report.damaged(ORIGINALS, path, f"{missing} messages have no original", meaning, remedy)


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
        column: sorted(hash_runs.index_directory(root, table, column).glob(f"*{hash_runs.SUFFIX}"))
        for column in hash_runs.index_names(table)
    }


def _entries_between(
    paths: Sequence[Path], table: str, column: str, low: int, high: int
) -> SortedHashes:
    keys, places = [np.empty(0, dtype="<u8")], [np.empty((0, len(bounded(table))), dtype="<i8")]
    for path in paths:
        least, greatest = group_bounds(str(path))
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


def check_tombstones(root: Path, report: Report) -> None:
    """Verify each run of tombstones and each copy."""
    for run in tombstones.tombstone_files(root):
        for path in (run, tombstones.copy_of(run)):
            if not path.exists():
                continue
            report.read(TOMBSTONES, "files")
            try:
                ChecksummedFile(path).read()
            except DamagedFileError as error:
                other = tombstones.other_of(path)
                try:
                    ChecksummedFile(other).read()
                    meaning, remedy = "its copy is whole", BY_ITSELF
                except (DamagedFileError, FileNotFoundError):
                    meaning, remedy = "no mail of this audience can be appended", BY_REPAIR
                report.damaged(TOMBSTONES, path, error.reason, meaning, remedy)
            except FileNotFoundError:
                continue  # merged meanwhile


def check_staging(root: Path, report: Report) -> None:
    """Verify each staged batch."""
    for path in sorted((root / "staging").glob("*/*.arrow")):
        report.read(STAGING, "batches")
        try:
            verify_batch(path)
        except DamagedFileError as error:
            meaning = "nothing is lost: the import is read again from its start"
            report.damaged(STAGING, path, error.reason, meaning, "run the import again")
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
    if (path := root / LOST_MAIL).exists():
        meaning = "what was lost with damaged files has not been read again"
        report.damaged(DATA, path, "a repair was cut short", meaning, BY_REPAIR)
    check_tombstones(root, report)
    check_staging(root, report)
    return contents
