"""Mend what a check found: from copies and from other files; what is lost is said.

No other process may use the tables meanwhile.  Nothing is deleted that is not made anew: what
cannot be read is moved to ``damaged/`` beside the tables.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import pyarrow as pa

from tapestry.core.clock import BEGINNING
from tapestry.core.errors import TapestryError
from tapestry.core.files.checksummed_file import ChecksummedFile
from tapestry.core.files.damage import DamagedFileError
from tapestry.core.files.durable import whole_file
from tapestry.core.schema import INDEXED
from tapestry.tables import tombstones
from tapestry.tables.check.data import LOST_MAIL
from tapestry.tables.check.log_files import LogContent, read_log
from tapestry.tables.check.report import Report
from tapestry.tables.delta import log_copy
from tapestry.tables.delta.data_files import DataFile, bounds_of, data_files_of, statistics
from tapestry.tables.delta.delta_table import open_table
from tapestry.tables.delta.draft import Draft, Outcome
from tapestry.tables.delta.log import Tables
from tapestry.tables.delta.log_check import check_log, newest_version
from tapestry.tables.delta.log_entry import remove_action
from tapestry.tables.delta.log_state import log_state
from tapestry.tables.delta.parquet_file import (
    open_parquet,
    parquet_footer,
    salvage_row_groups,
    verify_whole,
    write_parquet,
)
from tapestry.tables.find import group_bounds
from tapestry.tables.hash_runs import extend_index
from tapestry.tables.rows import ORIGINALS, REPEATING, arrow_schema, ordered, row_group_rows
from tapestry.tables.staging import verify_batch
from tapestry.tables.tombstones import mark_history_incomplete

SET_BACK = -1
"""The version of a cursor that counts as none: its source is read again from the start."""


class Repair:
    """A repair of the tables; ``said`` is what was done and what is lost, a sentence each."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.root = tables.root
        self.said: list[str] = []
        self.has_lost_mail = (tables.root / LOST_MAIL).exists()

    def run(self) -> None:
        """Mend logs, data files, tombstones, staged imports and indexes, in this order."""
        parquet_footer.cache_clear()
        log_state.cache_clear()
        for table in (ORIGINALS, *INDEXED):
            if (self.root / table).is_dir():
                self._mend_log(table)
                self._mend_data_files(table)
        if self.has_lost_mail:
            self._set_cursors_back()
        self._mend_tombstones()
        self._drop_staged()
        shutil.rmtree(self.root / "index", ignore_errors=True)
        for table in INDEXED:
            if (self.root / table).is_dir():
                extend_index(self.tables, table)
        self.said.append("The indexes were made anew.")

    def set_aside(self, path: Path) -> None:
        """Move a damaged file to ``damaged/``, where nothing reads it."""
        place = self.root.parent / "damaged" / path.relative_to(self.root.parent)
        place.parent.mkdir(parents=True, exist_ok=True)
        for number in count(1):
            if not place.exists():
                break
            place = place.with_name(f"{path.name}.{number}")
        path.rename(place)
        self.said.append(f"{path} was moved to {place}.")

    def _mend_log(self, table: str) -> None:
        root = self.root / table
        while True:
            try:
                check_log(root)
                break
            except DamagedFileError as error:
                self._replace_entry(table, Path(error.path))
        report = Report()
        read_log(root, report)
        for damage in report.damages:
            path = Path(damage.path)
            if path.parent.name == log_copy.DIRECTORY:
                original = root / "_delta_log" / path.name
                if original.exists():
                    log_copy.keep(original, original.read_bytes())
                else:
                    self.set_aside(path)
            elif path.exists():
                self.set_aside(path)

    def _replace_entry(self, table: str, path: Path) -> None:
        """Put an entry in the place of one that cannot be read, with the files it may have added.

        These are the files that no other entry names, and whose rows are in no other file.
        """
        root = self.root / table
        version = int(path.name.partition(".")[0])
        known = read_log(root, Report())
        stored = [file for name in known.rows if (file := root / name).exists()]
        readable = (rows for file in stored for rows in _readable(file, table))
        seen = {key for rows in readable for key in _keys(rows)}
        count_of_rows = 0
        with Draft(root) as draft:
            for file in _strays(root, known):
                # A file into which others were merged has their rows: these are in the table.
                new = [
                    rows.filter(pa.array([key not in seen for key in _keys(rows)], pa.bool_()))
                    for rows in _readable(file, table)
                ]
                content = pa.concat_tables([arrow_schema(table).empty_table(), *new])
                if content.num_rows:
                    _write(draft, table, content, data_change=True)
                    seen.update(_keys(content))
                    count_of_rows += content.num_rows
            if path.exists():  # until now: without it the log would end before it
                self.set_aside(path)
            log_copy.copy_path(path).unlink(missing_ok=True)
            _commit(draft, version)
        self.said.append(
            f"Entry {version} of the log of {table} is written anew: {count_of_rows} rows that no "
            "other entry has were found in its files.  Sources go on from the cursors before it."
        )

    def _mend_data_files(self, table: str) -> None:
        root = self.root / table
        for data_file in data_files_of(open_table(root, table)):
            path = Path(data_file.path)
            try:
                verify_whole(path)
                with open_parquet(path) as file:
                    if file.metadata.num_rows == data_file.rows:
                        continue
            except (DamagedFileError, FileNotFoundError):
                pass
            self._replace_data_file(table, data_file)
        for path in _strays(root, read_log(root, Report()), whole=False):
            try:
                verify_whole(path)
            except DamagedFileError:
                self.set_aside(path)

    def _replace_data_file(self, table: str, data_file: DataFile) -> None:
        """Put the rows that can be read in the place of a damaged file; say which are lost."""
        root, path = self.root / table, Path(data_file.path)
        groups = [arrow_schema(table).empty_table()]
        if path.exists():
            groups += _readable(path, table)
        content = pa.concat_tables(groups)
        lost = data_file.rows - content.num_rows
        if lost and table != ORIGINALS:
            self._note_lost_mail()
        with Draft(root) as draft:
            draft.actions.append(remove_action(root, data_file.path, data_file.bytes))
            if content.num_rows:
                _write(draft, table, content, data_change=False)
            _commit(draft, newest_version(root) + 1)
        if path.exists():
            self.set_aside(path)
        if lost:
            self.said.append(f"{lost} rows of {table} are lost; {content.num_rows} were saved.")
        if lost and table == ORIGINALS:
            self.said.append("Their messages stay; the bytes as they came are gone.")

    def _note_lost_mail(self) -> None:
        """Store that mail is lost, before it is: the next repair ends one that dies meanwhile."""
        mark_history_incomplete(self.root)
        with whole_file(self.root / LOST_MAIL):
            self.has_lost_mail = True

    def end(self) -> None:
        """Store that all is mended; the caller has had the votes appended again."""
        (self.root / LOST_MAIL).unlink(missing_ok=True)

    def _set_cursors_back(self) -> None:
        """Have all sources read again: what is lost comes again, and nothing comes twice."""
        table = "messages"
        transactions = read_log(self.root / table, Report()).transactions
        cursors = sorted(
            name
            for name, version in transactions.items()
            if version != SET_BACK and not name.endswith(" content")
        )
        if cursors:
            draft = Draft(self.root / table)
            draft.actions += [{"txn": {"appId": name, "version": SET_BACK}} for name in cursors]
            _commit(draft, newest_version(draft.root) + 1)
            self.said += [f"The source of {name} is read again from its start." for name in cursors]

    def _drop_staged(self) -> None:
        for directory in sorted((self.root / "staging").glob("*/")):
            try:
                for batch in sorted(directory.glob("*.arrow")):
                    verify_batch(batch)
            except DamagedFileError:
                self.set_aside(directory)
                self.said.append("The import that was staged there is read again from its start.")

    def _mend_tombstones(self) -> None:
        for run in tombstones.tombstone_files(self.root):
            for path in (run, tombstones.copy_of(run)):
                try:
                    if path.exists():
                        ChecksummedFile(path).read()
                except DamagedFileError:
                    try:
                        tombstones.mend(path)
                        self.said.append(f"{path} was written again from its copy.")
                    except DamagedFileError:
                        self.set_aside(path)
                        self.said.append("Mail that was removed for its age may be taken in again.")


def _write(draft: Draft, table: str, content: pa.Table, *, data_change: bool) -> None:
    """Write rows to a new file of a draft."""
    rows = ordered(table, content)
    path = write_parquet(draft.root, rows, row_group_rows(table), REPEATING)
    draft.add(path, statistics(rows.num_rows, bounds_of(table, rows)), data_change=data_change)


def _commit(draft: Draft, version: int) -> None:
    if draft.commit(version, {"operation": "REPAIR"}) is Outcome.TAKEN:
        raise TapestryError(
            f"The tables in {draft.root} were changed while they were mended.",
            hint="Stop all other parts of Tapestry, and run it again.",
        )


def _strays(root: Path, known: LogContent, *, whole: bool = True) -> Sequence[Path]:
    """Return the data files that no entry of a log names, the oldest rows first.

    Unless ``whole``, those that were merged away and damaged ones are among them, in any order.
    """
    paths = [path for path in root.glob("*.parquet") if path.name not in known.rows]
    if not whole:
        return paths
    strays = []
    for path in paths:
        if path.name not in known.removed:
            try:
                verify_whole(path)
            except DamagedFileError:
                continue
            strays.append(path)
    return sorted(strays, key=_bounds)


def _bounds(path: Path) -> tuple[int, int]:
    low, high = group_bounds(str(path))
    return int(low.min(initial=-BEGINNING)), int(high.max(initial=BEGINNING))


def _readable(path: Path, table: str) -> list[pa.Table]:
    """Return the row groups of a file that can be read."""
    groups = salvage_row_groups(path, arrow_schema(table))
    return [rows for rows in groups if rows is not None]


def _keys(rows: pa.Table) -> list[tuple[str, str]]:
    """Return what each row is known by: its key, and its audience."""
    key = "annid" if "annid" in rows.schema.names else "msgid"
    return list(zip(rows[key].to_pylist(), rows["audience"].to_pylist(), strict=True))
