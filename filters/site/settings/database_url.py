"""The database that DATABASE_URL names, read by dj-database-url."""

from __future__ import annotations

from typing import Any

import dj_database_url

from tapestry.core.errors import TapestryError

_PROBES = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
_TIMEOUT = {"tcp_user_timeout": 25_000}
_OF_SERVER = {f"tcp_{name}": value for name, value in _PROBES.items()} | _TIMEOUT

OPTIONS: dict[str, str | int] = {
    **_PROBES,
    **_TIMEOUT,
    "options": " ".join(f"-c {name}={value}" for name, value in _OF_SERVER.items()),
}
"""Each side ends a session, and what it locked, 25 seconds after it last heard of the other.

Probes (keepalives) are not sent while something is on its way: that has a timeout of its own,
without which it is sent again for a quarter of an hour.
"""


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
        read["OPTIONS"] = OPTIONS | read.get("OPTIONS", {})
    return read
