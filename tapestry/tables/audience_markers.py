"""Audience markers: which audiences have mail, so that a look at a name need not read the tables.

    append ─ lock ─> marker of each audience ─> commit        a marker is there before its rows
    has_rows ─> no marker: no ─> marker: the rows themselves decide

A marker is a file of ``audiences/``, named by a hash; a marker without rows, of an append that did
not come to its commit or of mail that was forgotten, says nothing.  Tables that are older than
their markers are read once, at the first look; then ``complete`` is there.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tapestry.core.files.durable import sync_directory
from tapestry.core.message import audience_digest
from tapestry.tables.delta.delta_table import explained
from tapestry.tables.delta.log import Tables, snapshot
from tapestry.tables.read import audiences_in

_DIRECTORY, _COMPLETE = "audiences", "complete"


def mark_audiences(root: Path, audiences: Iterable[str]) -> None:
    """Write the markers of audiences that rows are about to be committed for, under the lock."""
    _touch(root, map(audience_digest, audiences))


def has_rows(tables: Tables, audience: str) -> bool:
    """Return whether any message or annotation in the tables is for an audience."""
    if not tables.root.exists():
        return False
    markers = tables.root / _DIRECTORY
    if not (markers / _COMPLETE).exists():
        # What is appended meanwhile is marked by its own append.
        mark_audiences(tables.root, audiences_in(snapshot(tables)))
        _touch(tables.root, [_COMPLETE])
    return (markers / audience_digest(audience)).exists() and audience in audiences_in(
        snapshot(tables)
    )


def _touch(root: Path, names: Iterable[str]) -> None:
    """Make empty files that those who may read the tables may read."""
    directory = root / _DIRECTORY
    new = [path for name in names if not (path := directory / name).exists()]
    if not new:
        return
    hint = "Make room on the disk, or make the directory yours to write; then run it again."
    with explained(f"Audiences cannot be noted in {directory}", hint):
        mode = root.stat().st_mode & 0o777
        directory.mkdir(mode, exist_ok=True)
        for path in new:
            path.touch(mode & 0o666)
        sync_directory(directory)
