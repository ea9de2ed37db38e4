"""The rows of a world's tables, read without the product: the Delta log, and the files it names.

The log is the entries from the newest checkpoint on (the Delta protocol, "Action Reconciliation").
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow.parquet as pq

_rows: dict[Path, list[dict[str, Any]]] = {}
"""What files hold that were read: none is ever changed."""


def rows_of(table: Path) -> list[dict[str, Any]]:
    """Return the rows of the newest version of a table; none if there is no table."""
    return [row for name in _files(table) for row in _read(table / name)]


def _files(table: Path) -> list[str]:
    log = table / "_delta_log"
    files: dict[str, None] = {}
    first = min((int(entry.stem) for entry in log.glob("*.json")), default=0)
    versions = [int(path.name[:20]) for path in log.glob("*.checkpoint.parquet")]
    if versions:
        version = max(versions)
        checkpoint = pq.ParquetFile(log / f"{version:020}.checkpoint.parquet")
        for row in checkpoint.read(columns=["add"], use_threads=False).to_pylist():
            if row["add"] is not None:
                files[unquote(row["add"]["path"])] = None
        first = version + 1
    while (entry := log / f"{first:020}.json").exists():
        for line in entry.read_text().splitlines():
            action = json.loads(line)
            if "add" in action:
                files[unquote(action["add"]["path"])] = None
            if "remove" in action:
                files.pop(unquote(action["remove"]["path"]), None)
        first += 1
    return list(files)


def _read(path: Path) -> list[dict[str, Any]]:
    if path not in _rows:
        if len(_rows) > 4096:
            _rows.clear()
        _rows[path] = pq.ParquetFile(path, pre_buffer=False).read(use_threads=False).to_pylist()
    return _rows[path]
