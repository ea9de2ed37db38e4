"""A database that is made at once is the one that the migrations make."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.servers.site import manage

MAKE = "from filters.site.work.db.database import make_database_ready; make_database_ready()"

INDEXES = """
    SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL
"""
ROWS = {
    "migrations": "SELECT app, name FROM django_migrations",
    "types": "SELECT app_label, model FROM django_content_type",
    "permissions": """
        SELECT codename, auth_permission.name, model FROM auth_permission
        JOIN django_content_type ON django_content_type.id = content_type_id
    """,
}


def definition(text: str) -> Counter[str]:
    """Return the columns and constraints of a table, in whatever order they are."""
    parts, depth, part = Counter[str](), 0, ""
    for letter in text.partition("(")[2].rpartition(")")[0]:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts[part.strip()] += 1
            part = ""
        else:
            part += letter
    parts[part.strip()] += 1
    return parts


def described(path: Path) -> dict[str, Any]:
    """Return the tables, indexes and first rows of a database."""
    with closing(sqlite3.connect(path)) as database:
        query = "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
        tables = {name: definition(sql) for name, sql in database.execute(query)}
        rows = {name: Counter(database.execute(query)) for name, query in ROWS.items()}
        return {"tables": tables, "indexes": Counter(database.execute(INDEXES)), **rows}


@pytest.mark.sqlite
def test_a_new_database_is_the_one_that_the_migrations_make(tmp_path: Path) -> None:
    at_once, by_steps = tmp_path / "at-once", tmp_path / "by-steps"
    for data in (at_once, by_steps):
        data.mkdir(0o700)
    manage(at_once, "shell", "-v", "0", "-c", MAKE)
    manage(by_steps, "migrate", "--skip-checks", "-v", "0")
    assert described(at_once / "db.sqlite3") == described(by_steps / "db.sqlite3")
    manage(at_once, "migrate", "--skip-checks", "--check")
