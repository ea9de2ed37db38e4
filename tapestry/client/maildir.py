"""The list of a filter as a Maildir, which mail programs read: each message once, as it came.

    matches after the cursor ─> originals ─> tmp/ ─ rename ─> new/ ─> cursor

A message is named by its id: one that was written before a crash is not written again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from tapestry.client.site import REFUSED, CallError, Site, path_of
from tapestry.core.files.durable import whole_file

CURSOR = ".tapestry"
"""The file of a Maildir that says whose list it has, and how far."""

PAGE = 100


def save(site: Site, name: str, where: str) -> Iterator[dict[str, Any]]:
    """Write what came into the list of a filter since the last time; yield each message, and why
    it was not written if it was not.

    Raise CallError for a directory with something else in it.
    """
    place = Path(where).expanduser()
    whose = {"site": site.url, "filter": name}
    try:
        cursor = _begun(place, whose)
        written = {
            file.name.partition(":")[0]
            for part in ("new", "cur")
            for file in (place / part).iterdir()
        }
        while True:
            path = path_of("filters", name, "matches")
            page = site.get(path, after=cursor, limit=PAGE)
            for step in page["matches"]:
                if step["op"] == "insert":
                    yield _written(site, place, written, step)
            cursor = page["next"]
            _keep(place, whose, cursor)
            if page["is_end"]:
                return
    except OSError as error:
        raise CallError(
            1, f"{place}: {error.strerror}.", "Name a directory of your own."
        ) from error


def _begun(place: Path, whose: dict[str, str]) -> str:
    """Return the cursor of a Maildir, which is made if there is none."""
    try:
        state = json.loads((place / CURSOR).read_bytes())
    except FileNotFoundError:
        if place.exists() and any(place.iterdir()):
            raise CallError(
                2, f"{place} is not empty.", "Name a directory that is not there yet."
            ) from None
        for part in ("tmp", "new", "cur"):
            (place / part).mkdir(parents=True, exist_ok=True)
        _keep(place, whose, "")
        return ""
    except ValueError:
        state = {}
    if {key: state.get(key) for key in whose} != whose:
        raise CallError(2, f"{place} has the list of another filter.", "Name another directory.")
    return str(state["cursor"])


def _keep(place: Path, whose: dict[str, str], cursor: str) -> None:
    with whole_file(place / CURSOR) as file:
        file.write(json.dumps(whose | {"cursor": cursor}).encode())


def _written(site: Site, place: Path, written: set[str], step: dict[str, Any]) -> dict[str, Any]:
    file = f"{sha256(step['id'].encode()).hexdigest()[:32]}.tapestry"
    row = {"id": step["id"], "subject": step["subject"], "file": file}
    if file in written:
        return row
    try:
        original = site.original(step["id"])
    except CallError as error:
        if error.code != REFUSED:
            raise
        return row | {"file": "", "error": error.message}
    with whole_file(place / "tmp" / file) as letter:
        letter.write(original)
    (place / "tmp" / file).replace(place / "new" / file)
    written.add(file)
    return row
