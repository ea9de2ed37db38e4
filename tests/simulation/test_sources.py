"""Which sources of a site are waited for."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest

from tests.simulation import sources

TABLES = """
CREATE TABLE people_user (id, username, is_active);
CREATE TABLE auth_group (id, name);
CREATE TABLE people_user_groups (user_id, group_id);
CREATE TABLE sources_source (id, owner_id, kind, host, port, user, audience, active,
    folder_patterns, due_at, failures, error);
CREATE TABLE sources_syncstate (audience, account, folder, state);
INSERT INTO people_user VALUES (1, 'alice', 1);
INSERT INTO auth_group VALUES (7, 'x');
"""

SOURCE = """
INSERT INTO sources_source VALUES
    (1, 1, 'imap', 'imap.x.org', 993, 'alice.1', ?, 1, '["INBOX"]', 90, 3, 'It hangs.')
"""
"""A source that has failed, for an audience; it is due at the instant 90."""


class World:
    """The database of a site, and its time."""

    def __init__(self) -> None:
        self.now = 50
        self.database = sqlite3.connect(":memory:")
        self.database.row_factory = sqlite3.Row
        self.database.executescript(TABLES)

    def select(self, statement: str, *values: Any) -> list[dict[str, Any]]:
        return [dict(row) for row in self.database.execute(statement, values)]


@pytest.mark.parametrize("is_member", [True, False])
@pytest.mark.parametrize("audience", ["public", "user:alice", "group:x"])
def test_a_source_that_failed_is_waited_for_unless_its_owner_left_the_group(
    audience: str, is_member: bool
) -> None:
    world: Any = World()
    world.database.execute(SOURCE, [audience])
    if is_member:
        world.database.execute("INSERT INTO people_user_groups VALUES (1, 7)")
    is_waited_for = is_member or audience != "group:x"
    assert sources.awaited(world) == [90] * is_waited_for
    world.database.close()
