"""Write what was measured into FIGURES.md: rows of the table between a bench's two markers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tapestry.core.errors import TapestryError

FIGURES = Path(__file__).parents[1] / "FIGURES.md"


def record(path: Path, name: str, arguments: Sequence[str], rows: Mapping[str, str]) -> None:
    """Replace the rows of a command in a file, or add them at the end of the bench's table.

    The table stands between ``<!-- NAME: begin -->`` and ``<!-- NAME: end -->``, and the last
    cell of a row is its command.  Raise TapestryError if the markers are not there.
    """
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    before, opened, rest = path.read_text().partition(begin)
    table, closed, after = rest.partition(end)
    if not (opened and closed):
        raise TapestryError(f"{path} has no table of {name}.", hint=f"Add {begin}{end}")
    path.write_text(before + begin + with_rows(table, command(name, arguments), rows) + end + after)


def with_rows(table: str, command: str, rows: Mapping[str, str]) -> str:
    r"""Return a Markdown table with the rows of a command replaced.

    >>> table = "| a | 1 | `x` |\n| b | 2 | `x --big` |\n"
    >>> print(with_rows(table, "x", {"c": "3", "d": "4"}), end="")
    | c | 3 | `x` |
    | d | 4 | `x` |
    | b | 2 | `x --big` |
    """
    lines = table.splitlines()
    is_old = [line.endswith(f"| `{command}` |") for line in lines]
    place = is_old.index(True) if any(is_old) else len(lines)
    kept = [line for line, old in zip(lines, is_old, strict=True) if not old]
    new = [f"| {what} | {measured} | `{command}` |" for what, measured in rows.items()]
    return "".join(f"{line}\n" for line in [*kept[:place], *new, *kept[place:]])


def rows_of(templates: Mapping[str, str], figures: Mapping[str, Any]) -> dict[str, str]:
    """Return what was measured, and how much, in words; what was not measured is left out.

    >>> rows_of({"of {n:,}": "{ms:.0f} ms", "all": "{all_ms} ms"}, {"n": 1000, "ms": 1.6})
    {'of 1,000': '2 ms'}
    """
    rows = {}
    for what, measured in templates.items():
        try:
            rows[what.format_map(figures)] = measured.format_map(figures)
        except (KeyError, TypeError):  # TypeError: None, of a run that was too much for Spark
            continue
    return rows


def command(name: str, arguments: Sequence[str]) -> str:
    """Return a command as it is recorded: without paths, which differ from machine to machine.

    >>> command("ingest", ["--json", "--mbox", "/home/joe/mail", "--record", "--before", "10"])
    'ingest --mbox PATH --before 10'
    """
    shown = ["PATH" if os.sep in argument else argument for argument in arguments]
    return " ".join([name, *(word for word in shown if word not in ("--json", "--record"))])
