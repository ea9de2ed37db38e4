"""The list of a filter in a directory, for other programs: each message once, as it came.

    matches after the cursor ─> originals ─> a store of their format ─> the ledger: cursor, ids

The ledger gets a line before a page is written, and one after it: of a page that was cut off, what
was written is let go, and the page is written anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tapestry.client.formats import KINDS, Store
from tapestry.client.site import REFUSED, CallError, Site, path_of
from tapestry.core.files.durable import whole_file
from tapestry.core.files.file_lock import file_lock

LEDGER = ".tapestry"
"""The file of a directory that says whose list it has, and how far."""

LOCK = ".tapestry.lock"
"""Held by who writes: another run would let go what this one has just written."""

PAGE = 500

PUBLIC_INBOX = "public-inbox"
FORMATS = (*KINDS, PUBLIC_INBOX)
"""The names of the formats; the first is the usual one."""


class Ledger:
    """The record of a directory: JSON lines, of which a last one that is cut off does not count.

    Raises CallError for a directory with something else in it.
    """

    def __init__(self, place: Path, whose: dict[str, str]) -> None:
        self._file = place / LEDGER
        self.cursor, self.ids = "", set[str]()
        self.unfinished: str | None = None
        if not self._file.exists():
            self._begin(whose)
            return
        first, *lines = self._lines()
        if first != whose:
            raise CallError(2, f"{place} has something else.", "Name another directory.")
        for line in lines:
            self.unfinished = line.get("begun")
            self.cursor = line.get("cursor", self.cursor)
            self.ids.update(line.get("ids", ()))

    def _begin(self, whose: dict[str, str]) -> None:
        with whole_file(self._file) as file:
            file.write(_line(whose))

    def begin(self, end: str) -> None:
        """Note where the store ends before a page is written to it."""
        self._add({"begun": end})

    def finish(self, cursor: str, ids: list[str]) -> None:
        """Note that the messages up to a cursor are in the store."""
        self._add({"cursor": cursor, "ids": ids})
        self.cursor = cursor
        self.ids.update(ids)

    def _lines(self) -> list[dict[str, Any]]:
        whole, end, _ = self._file.read_bytes().rpartition(b"\n")
        os.truncate(self._file, len(whole + end))
        try:
            return [json.loads(line) for line in whole.split(b"\n")]
        except ValueError:
            return [{}]

    def _add(self, line: dict[str, Any]) -> None:
        with self._file.open("ab") as file:
            file.write(_line(line))
            file.flush()
            os.fsync(file.fileno())


def save(site: Site, name: str, where: str, form: str) -> Iterator[dict[str, Any]]:
    """Write what came into the list of a filter since the last time, in a format; yield each
    message, and why it was not written if it was not.

    Raise CallError for a directory with something else in it.
    """
    place = Path(where).expanduser()
    try:
        _require_own(place)
        with file_lock(place / LOCK) as is_alone:
            if not is_alone:
                hint = "Wait until it has ended."
                raise CallError(1, f"Another run writes to {place}.", hint)
            yield from _save_alone(site, name, place, form)
    except OSError as error:
        hint = "Name a directory of your own."
        raise CallError(1, f"{place}: {error.strerror}.", hint) from error


def _require_own(place: Path) -> None:
    files = {file.name for file in place.iterdir()} if place.exists() else set()
    if LEDGER not in files and files - {LOCK}:
        raise CallError(2, f"{place} is not empty.", "Name a directory that is not there yet.")


def _save_alone(site: Site, name: str, place: Path, form: str) -> Iterator[dict[str, Any]]:
    ledger = Ledger(place, {"site": site.url, "filter": name, "format": form})
    store = _open_store(form, place)
    if ledger.unfinished is not None:
        store.end_at(ledger.unfinished)
    is_end = False
    while not is_end:
        page = site.get(path_of("filters", name, "matches"), after=ledger.cursor, limit=PAGE)
        yield from _saved(site, store, ledger, page)
        is_end = page["is_end"]


def _open_store(form: str, place: Path) -> Store:
    if form == PUBLIC_INBOX:
        from tapestry.client.public_inbox import PublicInbox  # the others need no git

        return PublicInbox(place)
    return KINDS[form](place)


def _saved(
    site: Site, store: Store, ledger: Ledger, page: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Write a page of steps; yield its messages that are new."""
    if page["next"] == ledger.cursor:
        return
    ledger.begin(store.end())
    written: list[str] = []
    for step in page["matches"]:
        if step["op"] != "insert" or step["id"] in ledger.ids:
            continue
        row = {"id": step["id"], "subject": step["subject"]}
        try:
            content = store.content(site, step["id"])
        except CallError as error:
            if error.code != REFUSED:
                raise
            yield row | {"file": "", "error": error.message}
        else:
            yield row | {"file": store.add(step, content)}
            written.append(step["id"])
    store.end()
    ledger.finish(page["next"], written)


def _line(content: dict[str, Any]) -> bytes:
    return json.dumps(content).encode() + b"\n"
