"""All rows of a table, for programs of tests that end at once.

``DeltaTable.to_pyarrow_table`` reads through files of Python's: a thread of Arrow may still close
one as the program ends, and then aborts it, now and then.
"""

from __future__ import annotations

from typing import Any

from tapestry.tables.delta.log import Tables
from tapestry.tables.delta.parquet_file import read_parquet


def all_rows(tables: Tables, table: str) -> list[dict[str, Any]]:
    """Return the rows of all files, those that were removed as well."""
    files = tables.data_files(table)
    return [row for file in files for row in read_parquet(file.path).to_pylist()]
