"""The entries of a Delta log: each has a checksum, is on the disk when it has its number, and is
checked when it is read.

    actions ─> 0…0124.json (tapestry.tables.delta.draft writes it) ─ checksum ─> actions

The checksum stands in the action ``commitInfo``, which comes first: CRC-32 of the entry in which
eight zeros stand for it.  Entries of other programs have none.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote
from zlib import crc32

from tapestry.core.files.damage import DamagedFileError
from tapestry.core.files.mirror import mend

Action = Mapping[str, Any]

ENGINE = "Tapestry"
"""Stands in the first line of an entry that has a checksum."""

_UNKNOWN = b'"tapestry.crc32": "00000000"'
_CHECKSUM = re.compile(rb'"tapestry\.crc32": "([0-9a-f]{8})"')


def entry_path(root: Path, version: int) -> Path:
    """Return the file of an entry of the log of the table at ``root``."""
    return root / "_delta_log" / f"{version:020}.json"


def entry_bytes(actions: Sequence[Action], information: Mapping[str, Any]) -> bytes:
    """Return an entry with its checksum; ``information`` is that of the commit."""
    described: dict[str, Any] = {"engineInfo": ENGINE, "tapestry.crc32": "00000000"}
    described |= {"timestamp": now_ms(), **information}
    lines = [{"commitInfo": described}, *actions]
    content = "".join(f"{json.dumps(action)}\n" for action in lines).encode()
    checksum = b'"tapestry.crc32": "%08x"' % crc32(content)
    return content.replace(_UNKNOWN, checksum, 1)


def parse_entry(path: Path, content: bytes) -> list[Action]:
    """Return the actions of an entry; DamagedFileError if it is not as it was written.

    >>> content = entry_bytes([{"txn": {"appId": "a", "version": 1}}], {"operation": "WRITE"})
    >>> parse_entry(Path("0.json"), content)[1]
    {'txn': {'appId': 'a', 'version': 1}}
    >>> parse_entry(Path("0"), content.replace(b'"a"', b'"b"'))
    Traceback (most recent call last):
    tapestry.core.files.damage.DamagedFileError: The file 0 is damaged: its checksum does not agree.
    """
    if not content:
        raise DamagedFileError(path, "it is empty")
    first = content.partition(b"\n")[0]
    if ENGINE.encode() in first or b"crc32" in first:
        found = _CHECKSUM.search(first)
        blank = content.replace(found[0], _UNKNOWN, 1) if found else b""
        if found is None or b"%08x" % crc32(blank) != found[1]:
            raise DamagedFileError(path, "its checksum does not agree")
    try:
        actions = [json.loads(line) for line in content.splitlines() if line]
    except ValueError as error:
        raise DamagedFileError(path, "it is cut short or no longer JSON") from error
    if not all(isinstance(action, dict) for action in actions):
        raise DamagedFileError(path, "it holds no actions")
    return actions


def add_action(path: Path, stats: str, *, data_change: bool) -> dict[str, Any]:
    """Return the action that adds a file to its table, with its statistics."""
    return {
        "add": {
            "path": path.name,
            "partitionValues": {},
            "size": path.stat().st_size,
            "modificationTime": now_ms(),
            "dataChange": data_change,
            "stats": stats,
        }
    }


def remove_action(root: Path, path: str, size: int) -> dict[str, Any]:
    """Return the action that removes a file from its table; its rows are in other files."""
    return {
        "remove": {
            "path": name_in_log(root, path),
            "deletionTimestamp": now_ms(),
            "dataChange": False,
            "extendedFileMetadata": True,
            "partitionValues": {},
            "size": size,
        }
    }


def name_in_log(root: Path, path: str) -> str:
    """Return what a log calls a file of its table.

    >>> name_in_log(Path("/srv/messages"), "/srv/messages/part 1.parquet")
    'part%201.parquet'
    """
    return quote(os.path.relpath(path, root))


def now_ms() -> int:
    """Return the present in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def read_entry(root: Path, version: int) -> list[Action] | None:
    """Return the actions of an entry, None if there is no such entry.

    A damaged one is written again from its mirror; DamagedFileError if that is not whole either.
    """
    path = entry_path(root, version)
    try:
        return parse_entry(path, path.read_bytes())
    except FileNotFoundError:
        return None
    except DamagedFileError as error:
        mend(error)
        return parse_entry(path, path.read_bytes())
