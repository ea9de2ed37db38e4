"""Mend what a check found, as far as it has a mirror, is made anew, or is needed no more.

Rows are not repaired in place: what is damaged for good stays as it is, and a backup has it.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from tapestry.core.errors import TapestryError
from tapestry.core.files.damage import DamagedFileError
from tapestry.core.files.mirror import is_mirror, mend, remove_mirrored, renew
from tapestry.core.schema import INDEXED
from tapestry.tables.check.data import check_tables
from tapestry.tables.check.report import BY_ITSELF, RESTORE, Damage, Report
from tapestry.tables.delta.log import Tables
from tapestry.tables.delta.log_check import check_log
from tapestry.tables.keys.hash_runs import extend_index
from tapestry.tables.rows import ORIGINALS


def repair(tables: Tables) -> list[str]:
    """Mend what can be mended; return what was done, a sentence each.

    No other process may use the tables meanwhile.
    """
    directories = {table: tables.root / table for table in (ORIGINALS, *INDEXED)}
    for directory in filter(Path.is_dir, directories.values()):
        with suppress(DamagedFileError):
            check_log(directory)
    report = Report()
    check_tables(tables.root, report)
    sentences = [_mended(damage) for damage in report.damages if damage.remedy != RESTORE]
    for table in INDEXED:
        if directories[table].is_dir():
            with suppress(TapestryError):  # what it needs is to be restored
                extend_index(tables, table)
    return sentences


def _mended(damage: Damage) -> str:
    """Mend or delete a file; return the sentence that says so."""
    path = Path(damage.path)
    if is_mirror(path.parent):
        renew(path)
        return f"{path} was written again from its file."
    if damage.remedy == BY_ITSELF:
        with suppress(DamagedFileError):
            mend(DamagedFileError(path, damage.reason))
            return f"{path} was written again from its mirror."
    remove_mirrored(path)
    return f"{path} was deleted: {damage.meaning}."
