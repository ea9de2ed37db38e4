"""The sources of a world's people, as they are stored, and what of them is waited for."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from tests.simulation.mailboxes import Folder
    from tests.simulation.world import World

SECOND = 1_000_000

_SOURCES = """
SELECT s.id AS key, u.username AS person, s.kind, s.host, s.port, s.user, s.audience, s.active,
    s.folder_patterns, s.due_at, s.failures, s.error,
    s.audience NOT LIKE 'group:%' OR EXISTS (
        SELECT 1 FROM people_user_groups m JOIN auth_group g ON g.id = m.group_id
        WHERE m.user_id = u.id AND 'group:' || g.name = s.audience) AS is_allowed
FROM sources_source s JOIN people_user u ON u.id = s.owner_id WHERE u.is_active ORDER BY s.id"""

MAIL, BOOKS = ("imap",), ("carddav", "caldav")
"""Kinds of sources: of mail, and of contacts and meetings."""

_STATES = """
SELECT folder, state FROM sources_syncstate WHERE audience = ? AND account LIKE ?
ORDER BY folder"""


def rows(world: World, kinds: Collection[str] = MAIL) -> list[dict[str, Any]]:
    """Return the sources: ``folders`` are names, ``missing`` when what was put aside is due."""
    found = [row for row in world.select(_SOURCES) if row.pop("kind") in kinds]
    for row in found:
        row["folders"] = json.loads(row.pop("folder_patterns"))
        account = f"imap%://{quote(row['user'], safe='')}@{row.pop('host')}:{row.pop('port')}"
        states = world.select(_STATES, row["audience"], account)
        missing = [
            json.loads(state["state"]).get("withheld", {}).get("missing", {})
            for state in states
            if state["folder"] in row["folders"]
        ]
        row["missing"] = [int(due * SECOND) for kept in missing for _, due in kept.values()]
    return found


def folders(world: World, row: dict[str, Any]) -> Iterator[tuple[str, Folder]]:
    """Yield the folders of a source that are there."""
    box = world.endpoints.mailboxes.boxes[row["user"]]
    for name in row["folders"]:
        if name in box.folders:
            yield name, box.folders[name]


def awaited(world: World) -> list[int]:
    """Return when sources are pulled that are due, have failed, or lack a message.

    One for a group that its owner has left fails for good, and nothing is waited for.
    """
    times = []
    for row in rows(world, MAIL + BOOKS):
        if not (row["active"] and row["is_allowed"]):
            continue
        if row["missing"]:
            times.append(max(row["due_at"], *row["missing"]))
        elif row["failures"] or row["due_at"] <= world.now:
            times.append(row["due_at"])
    return times
