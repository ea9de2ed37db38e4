"""A data directory of an older version, built from text: SQL, and the rows of Delta tables."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from support.paths import ROOT

FIXTURES = ROOT / "tests" / "fixtures" / "data"

TYPES = {
    "string": pa.string(),
    "int64": pa.int64(),
    "double": pa.float64(),
    "binary": pa.binary(),
    "list<element: string>": pa.list_(pa.string()),
}


def names() -> list[str]:
    """Return the fixtures there are, the oldest first."""
    return sorted(path.stem for path in FIXTURES.glob("*.json"))


def build(name: str, data: Path) -> None:
    """Make the data directory of a fixture: its database, and its tables commit by commit."""
    data.mkdir(mode=0o700)
    with sqlite3.connect(data / "db.sqlite3") as database:
        database.executescript((FIXTURES / f"{name}.sql").read_text())
    for table, content in json.loads((FIXTURES / f"{name}.json").read_text()).items():
        path = data / "tables" / table
        columns = [pa.field(key, TYPES[type_], null) for key, type_, null in content["columns"]]
        schema = pa.schema(columns)
        path.mkdir(parents=True)
        DeltaTable.create(str(path), schema, configuration=content["configuration"])
        for rows in content["commits"]:
            write_deltalake(str(path), pa.Table.from_pylist(_typed(rows), schema), mode="append")


def _typed(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    return [
        row | ({"raw": str(row["raw"]).encode()} if "raw" in row else {})  # the one binary column
        for row in rows
    ]
