"""Copy the tables while others append: the newest version of each log, and the files it names.

    annotations ─> messages ─> originals ─> tombstones and what else is not derived

Whatever a copied row needs was there before it: a vote its message, a message its original.  Left
out is what is made anew from the rest: indexes, staged imports, second copies of the logs.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from tapestry.core.files.damage import DamagedFileError
from tapestry.core.files.durable import GONE
from tapestry.core.files.file_lock import FOREVER
from tapestry.core.files.site_lock import site_lock
from tapestry.core.schema import ANNOTATIONS, MESSAGES, THREADS
from tapestry.tables.check.log_files import LogContent, read_log
from tapestry.tables.check.report import Report
from tapestry.tables.delta.log_check import check_log, checkpoint_path, entries, newest_checkpoint
from tapestry.tables.delta.log_entry import entry_path
from tapestry.tables.delta.parquet_file import verify_whole
from tapestry.tables.rows import ORIGINALS

TABLES = (THREADS, ANNOTATIONS, MESSAGES, ORIGINALS)

DERIVED = frozenset({"index", "predicate_index", "staging"})
"""Directories of which nothing is copied."""

Copy = Callable[[Path, Path], None]
"""Copy a file to a path whose directory exists; FileNotFoundError if there is none."""


@contextmanager
def files_kept(root: Path) -> Iterator[None]:
    """Let nobody delete files of the tables meanwhile: compaction and ``forget`` wait."""
    with site_lock(root / "compact.lock", wait=FOREVER):
        yield


def copy_tables(
    root: Path, target: Path, copy: Copy, decided: Callable[[], None] = lambda: None
) -> dict[str, int]:
    """Copy the tables in ``root`` to a new directory; return how many rows each table has.

    The caller is within ``files_kept``.  ``decided`` is called once it is decided which messages
    and cursors are copied.  Raises DamagedFileError if a file is not as it was
    written: a copy of it would be no backup.
    """
    target.mkdir()
    rows = dict.fromkeys(TABLES, 0)
    for table in TABLES:
        if (root / table).is_dir():
            content = _copy_log(root / table, target / table, copy)
            if table == MESSAGES:
                decided()
            for name in content.rows:
                copy(root / table / name, target / table / name)
                verify_whole(target / table / name)
            rows[table] = sum(content.rows.values())
    for path in sorted(root.iterdir()):
        kind = path.name.partition("-")[0]  # the number of a part follows
        if kind not in {*TABLES, *DERIVED} and path.suffix not in {".lock", GONE}:
            _copy_all(path, target / path.name, copy)
    return rows


def _copy_log(root: Path, target: Path, copy: Copy) -> LogContent:
    """Copy the newest checkpoint of a log and the entries after it; return what they hold."""
    (target / "_delta_log").mkdir(parents=True)
    while True:
        check_log(root)
        begin = newest_checkpoint(root)
        versions = entries(root, begin)
        paths = [entry_path(root, version) for version in versions]
        if begin:
            paths.insert(0, checkpoint_path(root, begin))
        try:
            if any(high != low + 1 for low, high in pairwise(versions)):
                continue  # listed while others were written
            for path in paths:
                copy(path, target / "_delta_log" / path.name)
            break
        except FileNotFoundError:  # a checkpoint was made meanwhile, and these were dropped
            shutil.rmtree(target / "_delta_log")
            (target / "_delta_log").mkdir()
    report = Report()
    content = read_log(target, report)
    for damage in report.damages:
        raise DamagedFileError(Path(damage.path), damage.reason)
    return content


def _copy_all(path: Path, target: Path, copy: Copy) -> None:
    if path.is_dir():
        target.mkdir()
        for inner in sorted(path.iterdir()):
            _copy_all(inner, target / inner.name, copy)
    else:
        copy(path, target)
