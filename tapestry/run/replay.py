"""Run filters over tables in files, window by window, with neither database nor services."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeGuard
from typing import Literal as OneOf

import pyarrow as pa
import pyarrow.parquet as pq

from tapestry.core.clock import BEGINNING, format_instant, parse_instant
from tapestry.core.errors import TapestryError
from tapestry.core.message import PUBLIC, audiences_of
from tapestry.core.schema import ANNOTATIONS, COLUMNS, KEY_COLUMN, MESSAGES, Type
from tapestry.plan.compile import compile_filter
from tapestry.plan.engine import Engine
from tapestry.query.context import Context
from tapestry.rewrite.pipeline import Strategy
from tapestry.run.changes import change_windows
from tapestry.run.execute import Subscription, execute_windows
from tapestry.tables.log import DataFile, Snapshot
from tapestry.tables.rows import arrow_schema

Deltas = OneOf["transactional", "compressed"]
"""Every change in order, or the difference between the ends of each window."""

MOST_PARTS = 32
"""Files a table is cut into, so that a window reads its own rows and not all of them."""

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the filters' file."""

    id: str | int
    text: str
    owner: str | None
    audiences: tuple[str, ...]


def replay(
    engine_on: Callable[[Snapshot], Engine],
    data: Path,
    filters: Path,
    instants: Sequence[int],
    strategy: Strategy = "fast",
    deltas: Deltas | None = None,
) -> Iterator[dict[str, object]]:
    """Yield what the filters deliver in the windows that end at the instants.

    Filters that do not compile come first, as ``{"filter", "error", "at"}``; then a
    ``{"filter", "msgid", "matched_at", "run"}`` for each match, in the order of run,
    filter, matched_at and msgid.  With ``deltas``, what the answers of live filters gain and
    lose instead: ``{"filter", "msgid", "op", "at", "run"}``.  Raises TapestryError for files
    that cannot be read.
    """
    if any(later <= earlier for earlier, later in pairwise(instants)):
        raise TapestryError("The instants of --at must increase.", hint="Write --at T1,T2,T3.")
    lines = _filters(filters)
    plans = {}
    for number, line in enumerate(lines):
        try:
            context = Context(line.owner, (), _resolver(lines, line))
            plans[number] = compile_filter(line.text, context, "general" if deltas else strategy)
        except TapestryError as error:
            yield {"filter": line.id, "error": error.message, "at": error.offset}
    with tempfile.TemporaryDirectory(prefix="tapestry-replay-") as made:
        engine = engine_on(_snapshot(data, Path(made)))
        asked = [
            Subscription(number, plan, lines[number].audiences, BEGINNING)
            for number, plan in plans.items()
        ]
        if deltas:
            yield from _deltas(engine, asked, lines, instants, deltas)
            return
        for run, matches in enumerate(execute_windows(engine, asked, instants)):
            for match in sorted(
                matches, key=lambda m: (_order(lines[m.filter_id].id), m.matched_at, m.msgid)
            ):
                yield {
                    "filter": lines[match.filter_id].id,
                    "msgid": match.msgid,
                    "matched_at": format_instant(match.matched_at),
                    "run": run,
                }


def _deltas(
    engine: Engine,
    asked: Sequence[Subscription],
    lines: Sequence[Line],
    instants: Sequence[int],
    deltas: Deltas,
) -> Iterator[dict[str, object]]:
    runs = change_windows(engine, asked, instants, net=deltas == "compressed")
    for run, changes in enumerate(runs):
        for change in sorted(changes, key=lambda c: (_order(lines[c.filter_id].id), c.at, c.msgid)):
            yield {
                "filter": lines[change.filter_id].id,
                "msgid": change.msgid,
                "op": change.op,
                "at": format_instant(change.at),
                "run": run,
            }


def _order(name: str | int) -> tuple[bool, int, str]:
    return (False, name, "") if isinstance(name, int) else (True, 0, name)


def _resolver(lines: Sequence[Line], asking: Line) -> Callable[[str | None, str], str]:
    def resolve(owner: str | None, name: str) -> str:
        wanted = asking.owner if owner is None else owner
        for line in lines:
            if str(line.id) == name and line.owner == wanted:
                return line.text
        raise TapestryError(f"There is no filter {name!r} of {wanted!r} in the file.")

    return resolve


def _filters(path: Path) -> list[Line]:
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
        seen = default if audiences is None else tuple(audiences)
        lines.append(Line(name, text, None if owner is None else str(owner), seen))
    return lines


def _snapshot(data: Path, made: Path) -> Snapshot:
    """Write the rows of both files as Parquet, oldest first, in a few files."""
    return Snapshot(_parts(data, MESSAGES, made), _parts(data, ANNOTATIONS, made))


def _parts(data: Path, table: str, made: Path) -> tuple[DataFile, ...]:
    path = data / f"{table}.jsonl"
    if not path.exists() and table == ANNOTATIONS:
        return ()
    rows = [_row(path, number, raw, table) for number, raw in _rows(path)]
    rows.sort(key=lambda row: row["ts"])
    size = max(1, -(-len(rows) // MOST_PARTS))
    parts = []
    for begin in range(0, len(rows), size):
        some = rows[begin : begin + size]
        file = made / f"{table}-{begin}.parquet"
        pq.write_table(pa.Table.from_pylist(some, schema=arrow_schema(table)), file)
        parts.append(DataFile(str(file), len(some), some[0]["ts"], some[-1]["ts"]))
    return tuple(parts)


def _row(path: Path, number: int, raw: dict[str, Any], table: str) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, kind in COLUMNS[table].items():
        value = raw.get(name)
        try:
            row[name] = _cell(value, kind)
        except (ValueError, OverflowError) as error:
            raise _fault(path, number, f"column {name}: {error}") from error
    row["audience"] = row["audience"] or PUBLIC
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
        return float(value) if kind is Type.NUMBER else _whole(value)
    if not _is_text(value):
        raise ValueError(f"expected a text, found {_shown(value)}")
    return parse_instant(value) if kind is Type.INSTANT else value


def _whole(value: float) -> int:
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


def _fault(path: Path, number: int, what: str) -> TapestryError:
    return TapestryError(f"{path}, line {number}: {what}.", hint="Mend the line and try again.")
