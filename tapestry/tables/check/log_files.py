"""Read a Delta log without delta-rs and without changing it, and report what is damaged in it.

    newest checkpoint ─> files ─ entry ─ entry ─ entry ─> files of the newest version

Where a file of the log is damaged, its mirror is read instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from tapestry.core.files.damage import DamagedFileError
from tapestry.core.files.mirror import content_of, mirrored_by, mirrors_of, read_mirror
from tapestry.tables.check.report import BY_ITSELF, BY_REPAIR, RESTORE, Damage, Report
from tapestry.tables.delta.log_check import (
    CHECKPOINT,
    checkpoints,
    damaged_pointer,
    entries,
    mirrored,
    version_of,
)
from tapestry.tables.delta.log_entry import Action, entry_path, parse_entry

LOG = "logs"


@dataclass(slots=True)
class LogContent:
    """The files of the newest version of a log, with their rows.

    ``is_whole`` is False where an entry could not be read.
    """

    rows: dict[str, int] = field(default_factory=dict)
    is_whole: bool = True

    def apply(self, action: Action) -> None:
        """Take one action of the log."""
        if "add" in action:
            stats = json.loads(action["add"].get("stats") or "{}")
            self.rows[unquote(action["add"]["path"])] = stats.get("numRecords", -1)
        elif "remove" in action:
            self.rows.pop(unquote(action["remove"]["path"]), None)


def read_log(root: Path, report: Report) -> LogContent:
    """Read the log of the table at ``root``, and report what is damaged in it.

    Others may make a checkpoint meanwhile, and delete what is older: a damage is one only if it is
    there at two looks in a row.
    """
    before: list[Damage] = []
    while True:
        own = Report()
        content = _read_log(root, own)
        if own.damages == before:
            report.add(own)
            return content
        before = own.damages


def _read_log(root: Path, report: Report) -> LogContent:
    content = LogContent()
    begin = _read_checkpoint(root, report, content)
    mirrors = (path for path in mirrored(root) if path.suffix == ".json")
    versions = {*entries(root), *(v for path in mirrors if (v := version_of(path)) >= begin)}
    expected = range(begin, max(versions, default=begin - 1) + 1)
    for version in sorted(versions.union(expected)):
        actions = _read_entry(root, version, report, is_needed=version > begin or begin == 0)
        if actions is None:
            content.is_whole &= version <= begin and begin > 0
        elif version > begin or begin == 0:
            for action in actions:
                content.apply(action)
    check_mirrors(LOG, root / "_delta_log", report)
    if not content.is_whole:
        report.damages = [replace(damage, remedy=RESTORE) for damage in report.damages]
    return content


def _read_checkpoint(root: Path, report: Report, content: LogContent) -> int:
    """Take the actions of the newest checkpoint that can be read; return its version, else 0."""
    names = {path.name for path in mirrored(root) if CHECKPOINT.fullmatch(path.name)}
    begin = 0
    for name in sorted(names | {path.name for path in checkpoints(root)}, reverse=True):
        path = root / "_delta_log" / name
        report.read(LOG, "checkpoints")
        copy = read_mirror(path)
        try:
            stored = path.read_bytes()
        except FileNotFoundError:
            if copy is None:
                continue  # an older one, deleted meanwhile
            stored = b""
        if copy is not None and stored != copy:
            reason = "it is not what was written" if stored else "it is empty or missing"
            report.damaged(LOG, path, reason, "its mirror is whole", BY_ITSELF)
            stored = copy
        try:
            actions = _actions(stored)
        except (pa.ArrowException, OSError) as error:
            reason = str(error).partition("\n")[0]
            meaning = "the version is read from an older checkpoint and the entries since"
            report.damaged(LOG, path, f"it cannot be read ({reason})", meaning, BY_REPAIR)
            continue
        if not begin:
            begin = version_of(path)
            for action in actions:
                content.apply(action)
    if pointer := damaged_pointer(root):
        report.damaged(LOG, pointer.path, pointer.reason, "the log is read without it", BY_ITSELF)
    return begin


def _actions(checkpoint: bytes) -> list[Mapping[str, Any]]:
    # In memory of Arrow's own: its threads may still hold Python's as the program ends, and abort.
    stream = pa.BufferOutputStream()
    stream.write(checkpoint)
    added = pq.read_table(stream.getvalue())["add"]  # all is read: any of it may be damaged
    return [{"add": action} for action in added.drop_null().to_pylist()]


def _read_entry(
    root: Path, version: int, report: Report, *, is_needed: bool
) -> list[Action] | None:
    path = entry_path(root, version)
    copy = read_mirror(path)
    report.read(LOG, "entries")
    try:
        try:
            stored = path.read_bytes()
        except FileNotFoundError:
            raise DamagedFileError(path, "it is missing") from None
        actions = parse_entry(path, stored)
        if copy is not None and stored != copy and "commitInfo" not in actions[0]:
            raise DamagedFileError(path, "it is not what was written")
        return actions
    except DamagedFileError as error:
        if not path.exists() and not is_needed:
            return None
        if copy is not None:
            report.damaged(LOG, path, error.reason, "its mirror is whole", BY_ITSELF)
            return parse_entry(path, copy)
        meaning = "the table cannot be read, for what this entry added or removed is not known"
        if not is_needed:
            meaning = "it is of the past: nothing needs it"
        report.damaged(LOG, path, error.reason, meaning, BY_REPAIR)
        return None


def check_mirrors(kind: str, directory: Path, report: Report, *, checksummed: bool = False) -> None:
    """Report damaged mirrors of the files in a directory that are whole."""
    reported = {damage.path for damage in report.damages}
    mirrors = mirrors_of(directory)
    for mirror in sorted(mirrors.iterdir()) if mirrors.is_dir() else ():
        if mirror.suffix == ".new" or str(mirrored_by(mirror)) in reported:
            continue
        report.read(kind, "mirrors")
        try:
            content_of(mirror, checksummed=checksummed)
        except FileNotFoundError:
            continue  # what it mirrors was deleted meanwhile
        except DamagedFileError as error:
            meaning = "the file that it mirrors is whole"
            report.damaged(kind, mirror, error.reason, meaning, BY_ITSELF)
