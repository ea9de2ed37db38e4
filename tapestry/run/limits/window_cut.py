"""Cut a window where so many rows are new, by the bounds of the data files."""

from __future__ import annotations

from tapestry.core.schema import COLUMNS
from tapestry.tables.delta.data_files import DataFile
from tapestry.tables.delta.log import Snapshot


def cut(seen: Snapshot, since: int, until: int, rows: float) -> int:
    """Return an end of the window (since, until] up to which about so many rows are new.

    It is ``until`` if there are no more rows.  The rows of one append have one instant, and stay
    together.
    """
    before = 0.0
    for file in _files(seen, since, until):
        inside = _rows_within(file, since, until)
        if before + inside > rows:
            low, high = max(file.min_ts - 1, since), min(file.max_ts, until)
            end = low + int((high - low) * (rows - before) / inside)
            return end if end > since else high
        before += inside
    return until


def half(seen: Snapshot, since: int, until: int) -> int | None:
    """Return an end with about half of the window's new rows; None if nothing divides them."""
    total = sum(_rows_within(file, since, until) for file in _files(seen, since, until))
    end = cut(seen, since, until, total / 2)
    return end if end < until else None


def _files(seen: Snapshot, since: int, until: int) -> list[DataFile]:
    files = (file for table in COLUMNS for file in seen.data_files(table))
    inside = [file for file in files if file.max_ts > since and file.min_ts <= until]
    return sorted(inside, key=lambda file: file.max_ts)


def _rows_within(file: DataFile, since: int, until: int) -> float:
    """Return about how many rows of a file are in a window, if they are spread evenly."""
    span = file.max_ts - file.min_ts + 1
    return file.rows * (min(file.max_ts, until) - max(file.min_ts - 1, since)) / span
