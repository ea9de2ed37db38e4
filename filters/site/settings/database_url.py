"""The database that DATABASE_URL names, read by dj-database-url."""

from __future__ import annotations

from typing import Any

import dj_database_url

from tapestry.core.errors import TapestryError

LETS_GO = "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3"
"""PostgreSQL ends the session of a machine that is gone, and what it locked, after 25 seconds."""


def database_settings(url: str) -> dict[str, Any]:
    """Return Django's settings of the database that a URL names.

    Raise TapestryError, without the URL, for it may have a password, if it cannot be read.

    >>> database_settings("postgres://terry@db.example.org/tapestry")["NAME"]
    'tapestry'
    """
    try:
        read: dict[str, Any] = dict(
            dj_database_url.parse(url, conn_max_age=60, conn_health_checks=True)
        )
    except ValueError:
        raise TapestryError(
            "DATABASE_URL is not the address of a database.",
            hint="Write postgres://user:password@host:5432/name; %40 for an @ in the password.",
        ) from None
    if "postgresql" in read["ENGINE"]:
        read.setdefault("OPTIONS", {}).setdefault("options", LETS_GO)
    return read
