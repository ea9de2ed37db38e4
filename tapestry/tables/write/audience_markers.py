"""Audience markers: which audiences have mail, so that a look at a name need not read the tables.

    append ─ lock ─> marker of each audience ─> commit        a marker is there before its rows
    has_rows ─> no marker: no ─> marker: the rows themselves decide

A marker is a file of ``audiences/``, named by a hash; a marker without rows, of an append that did
not come to its commit or of mail that was forgotten, says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tapestry.core.files.durable import sync_directory
from tapestry.core.message import audience_digest
from tapestry.tables.delta.delta_table import explained
from tapestry.tables.delta.log import Tables, snapshot
from tapestry.tables.read.messages import audiences_in

_DIRECTORY = "audiences"


def mark_audiences(root: Path, audiences: Iterable[str]) -> None:
    """Write the markers of audiences that rows are about to be committed for, under the lock.

    They are empty files that those who may read the tables may read.
    """
    directory = root / _DIRECTORY
    paths = [directory / audience_digest(audience) for audience in audiences]
    new = [path for path in paths if not path.exists()]
    if not new:
        return
    with explained(f"Audiences cannot be noted in {directory}"):
        mode = root.stat().st_mode & 0o777
        directory.mkdir(mode, exist_ok=True)
        for path in new:
            path.touch(mode & 0o666)
        sync_directory(directory)


def has_rows(tables: Tables, audience: str) -> bool:
    """Return whether any message or annotation in the tables is for an audience."""
    is_marked = (tables.root / _DIRECTORY / audience_digest(audience)).exists()
    return is_marked and audience in audiences_in(snapshot(tables))
