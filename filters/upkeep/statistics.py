"""Statistics of indexes, by which SQLite chooses among several; PostgreSQL keeps its own.

Source: SQLite, ANALYZE and PRAGMA analysis_limit.
"""

from __future__ import annotations

from django.db import connection


def renew_statistics() -> None:
    """Have SQLite look at some rows of each index; connections that are opened later use that."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA analysis_limit = 1000")
            cursor.execute("ANALYZE")
