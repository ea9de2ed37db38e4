"""Check the files of the predicate index: what is damaged there is made anew from the database."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from tapestry.predicate_index.store import PredicateIndex
from tapestry.tables.check.data import check_data_files
from tapestry.tables.check.log_files import read_log
from tapestry.tables.check.report import BY_ITSELF, Report

KIND = "predicate index"


def check_predicate_index(root: Path, report: Report) -> None:
    """Verify the logs and the files of the predicate index of the tables at ``root``."""
    for table in chain.from_iterable(index.tables() for index in PredicateIndex.all_parts(root)):
        own = Report()
        check_data_files(table, read_log(table, own), own)
        for what, number in (item for counts in own.counts.values() for item in counts.items()):
            report.read(KIND, what, number)
        meaning = "all filters are entered anew, each over the mail since its last run"
        for damage in own.damages:
            report.damaged(KIND, damage.path, damage.reason, meaning, BY_ITSELF)
