"""The files of a replay: filters and rows as JSON lines, and a snapshot of tables made of them.

Values are checked by the columns of ``core.schema``; an error names the file and the line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

import pyarrow as pa

from tapestry.core.clock import parse_instant
from tapestry.core.errors import TapestryError
from tapestry.core.message import PUBLIC, audiences_of
from tapestry.core.schema import ANNOTATIONS, COLUMNS, KEY_COLUMN, MESSAGES, THREADS, Type
from tapestry.tables.delta.data_files import DataFile, bounded_file, bounds_of
from tapestry.tables.delta.log import Snapshot
from tapestry.tables.delta.parquet_file import write_parquet
from tapestry.tables.rows import REPEATING, ROW_GROUP, arrow_schema
from tapestry.tables.write.threads import all_facts

MOST_FILES = 32
"""Data files a table is cut into, so that a window reads its own rows and not all of them."""

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class FilterLine:
    """One line of the filters' file."""

    id: str | int
    text: str
    owner: str | None
    audiences: tuple[str, ...]


def read_filters(path: Path) -> list[FilterLine]:
    """Return the filters of a file of JSON lines; raises TapestryError."""
    lines = []
    for number, row in _rows(path):
        text, owner = row.get("text"), row.get("owner")
        name = row.get("id")
        if not isinstance(text, str) or not (isinstance(name, int) or _is_text(name)):
            raise _fault(path, number, "a filter needs an id and a text")
        default = (PUBLIC,) if owner is None else audiences_of(str(owner))
        audiences = row.get("audiences")
        if audiences is not None and not _is_texts(audiences):
            raise _fault(path, number, "audiences must be a list of texts")
        visible = default if audiences is None else tuple(audiences)
        lines.append(FilterLine(name, text, None if owner is None else str(owner), visible))
    return lines


def read_snapshot(data: Path, directory: Path) -> Snapshot:
    """Write the rows of both files into the directory as Parquet, oldest first, in a few files.

    Raises TapestryError for files that cannot be read.
    """
    messages, annotations = _table(data, MESSAGES), _table(data, ANNOTATIONS)
    return Snapshot(
        _data_files(messages, MESSAGES, directory),
        _data_files(annotations, ANNOTATIONS, directory),
        threads=_data_files(all_facts(messages), THREADS, directory),
    )


def _table(data: Path, table: str) -> list[dict[str, Any]]:
    path = data / f"{table}.jsonl"
    if not path.exists() and table == ANNOTATIONS:
        return []
    rows = [_row(path, number, raw, table) for number, raw in _rows(path)]
    return sorted(rows, key=lambda row: row["ts"])


def _data_files(
    rows: Sequence[dict[str, Any]], table: str, directory: Path
) -> tuple[DataFile, ...]:
    size = max(1, -(-len(rows) // MOST_FILES))
    data_files = []
    for begin in range(0, len(rows), size):
        chunk = rows[begin : begin + size]
        written = pa.Table.from_pylist(chunk, schema=arrow_schema(table))
        file = write_parquet(directory, written, ROW_GROUP, REPEATING)
        bounds = bounds_of(table, written)
        data_files.append(bounded_file(str(file), len(chunk), 0, bounds))
    return tuple(data_files)


def _row(path: Path, number: int, raw: dict[str, Any], table: str) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, kind in COLUMNS[table].items():
        value = raw.get(name)
        try:
            row[name] = _cell(value, kind)
        except (ValueError, OverflowError) as error:
            raise _fault(path, number, f"column {name}: {error}") from error
    row["audience"] = row["audience"] or PUBLIC
    if "received" in row and row["ts"] is not None:
        instants = (row["received"], row["date"], row["ts"])
        row["received"] = min(next(at for at in instants if at is not None), row["ts"])
    if "starts" in row and row["starts"] is None:
        row["starts"] = row["ts"]
    if row["ts"] is None or row[KEY_COLUMN[table]] is None:
        raise _fault(path, number, f"a row needs {KEY_COLUMN[table]} and ts")
    return row


def _cell(value: Any, kind: Type) -> Any:
    if kind is Type.SET:
        if value is not None and not _is_texts(value):
            raise ValueError("expected a list of texts")
        return value or []
    if value is None:
        return None
    if kind in (Type.INTEGER, Type.NUMBER):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"expected a number, found {_shown(value)}")
        return float(value) if kind is Type.NUMBER else _integer(value)
    if not _is_text(value):
        raise ValueError(f"expected a text, found {_shown(value)}")
    return parse_instant(value) if kind is Type.INSTANT else value


def _integer(value: float) -> int:
    number = int(value)
    if number != value or not -(2**63) <= number < 2**63:
        raise ValueError(f"expected a whole number of 64 bits, found {_shown(value)}")
    return number


def _shown(value: object) -> str:
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:79] + "…"


def _is_text(value: object) -> TypeGuard[str]:
    """Tell whether a value is a text that UTF-8 can hold: half a surrogate pair is none."""
    return isinstance(value, str) and not _SURROGATE.search(value)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    row = json.loads(line)
                except ValueError as error:
                    raise _fault(path, number, f"not JSON ({error})") from error
                except RecursionError as error:
                    raise _fault(path, number, "JSON that is nested too deeply") from error
                if not isinstance(row, dict):
                    raise _fault(path, number, "not a JSON object")
                yield number, row
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise TapestryError(
            f"{path} cannot be read: {reason}.", hint="Give a file of JSON lines."
        ) from error


def _fault(path: Path, number: int, reason: str) -> TapestryError:
    return TapestryError(f"{path}, line {number}: {reason}.", hint="Mend the line and try again.")
