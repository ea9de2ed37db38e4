"""Copy the database while it is used, and write a copy into an empty one: SQLite, PostgreSQL."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

from django.db import DatabaseError, connection
from psycopg.conninfo import make_conninfo
from psycopg.pq import Conninfo

from tapestry.core.errors import TapestryError
from tapestry.core.files.damage import DamagedFileError

NAMES = {"sqlite": "db.sqlite3", "postgresql": "database.dump"}
"""The file of a copy in a backup, by the kind of database."""


SECRETS = frozenset({"sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret"})
"""Parameters of libpq that have no environment variable, and are to be seen by nobody else."""


class DamagedDatabaseError(DamagedFileError):
    """The database is not as it was written; a copy of it would be no backup."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.hint = (
            "There is no new backup. Stop the site, keep a copy of the data directory, and "
            "restore the last backup with manage.py restore."
        )


DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def copy_database(directory: Path) -> Path:
    """Write the database as of one instant into a file of the directory, and return its path.

    Raises DamagedDatabaseError if SQLite finds the copy inconsistent, or cannot read the database.
    """
    path = directory / NAMES[connection.vendor]
    if connection.vendor == "sqlite":
        try:
            with connection.wrap_database_errors, closing(sqlite3.connect(path)) as target:
                connection.ensure_connection()
                connection.connection.backup(target)
                problem = _inconsistency(target)
        except DatabaseError as error:
            if getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF not in DAMAGED:
                raise
            problem = str(error)
        if problem:
            raise DamagedDatabaseError(_name(), problem)
    else:
        _run("pg_dump", ["--format=custom", "--no-owner", f"--file={path}"])
    return path


def _inconsistency(database: sqlite3.Connection) -> str | None:
    """Return what is wrong first in a database of SQLite: its pages and indexes, then its rows."""
    [found] = database.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        return str(found).splitlines()[-1]
    if broken := database.execute("PRAGMA foreign_key_check").fetchone():
        table, _, other, _ = broken
        return f"a row of {table} belongs to one of {other} that is missing"
    return None


def check_is_there() -> None:
    """Raise TapestryError if there is no database, or nothing in it."""
    if _is_empty():
        raise TapestryError(
            f"Nothing is stored in the database {_name()}.",
            hint="Name the data directory with --data DIR.",
        )


def check_is_empty() -> None:
    """Raise TapestryError if there is a database, with anything in it."""
    if not _is_empty():
        raise TapestryError(
            f"The database {_name()} is in use already.",
            hint="A backup is restored into an empty one: name another directory, or with "
            "PostgreSQL another database.",
        )


def _is_empty() -> bool:
    if connection.vendor == "sqlite":
        return not Path(_name()).exists()
    return not connection.introspection.table_names()


def check_kind(path: Path) -> None:
    """Raise TapestryError if a copy is of another kind of database."""
    if path.name != NAMES[connection.vendor]:
        raise TapestryError(
            f"The backup has {path.name}, and the database is {connection.display_name}.",
            hint="Set DATABASE_URL to a database of the kind that was backed up.",
        )


def restore_database(path: Path) -> None:
    """Write the copy in a file into the database, which is empty."""
    if connection.vendor == "sqlite":
        connection.close()
        target = Path(str(connection.settings_dict["NAME"]))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(path, target)
    else:
        options = ["--exit-on-error", "--single-transaction", "--no-owner"]
        _run("pg_restore", [*options, str(path)])
        path.unlink()


def _name() -> str:
    return str(connection.settings_dict["NAME"])


def _run(program: str, arguments: list[str]) -> None:
    """Run a program of PostgreSQL on the database of the settings."""
    found = shutil.which(program) or max(
        map(str, Path("/usr/lib/postgresql").glob(f"*/bin/{program}")), default=None
    )
    if found is None:
        raise TapestryError(
            f"The program {program} is not here.",
            hint="It comes with PostgreSQL's client programs: install them.",
        )
    given, rest = _connection_parameters()
    ended = subprocess.run(
        [found, "--no-password", f"--dbname={make_conninfo(**rest)}", *arguments],
        env={**os.environ, **given},
        capture_output=True,
        text=True,
    )
    if ended.returncode:
        lines = ended.stderr.strip().splitlines() or [f"it ended with {ended.returncode}"]
        raise TapestryError(
            f"The program {program} failed: {lines[-1]}",
            hint="It must be of the server's version, or newer.",
        )


def _connection_parameters() -> tuple[dict[str, str], dict[str, str]]:
    """Return how the site connects: libpq's variables, and parameters that have no variable.

    What is in DATABASE_URL after the “?” is among them, such as sslmode (PGSSLMODE).  Raises
    TapestryError if a secret has no variable: others could read it on a command line.
    """
    settings: dict[str, Any] = connection.settings_dict
    wanted = {key.lower(): settings[key] for key in ("HOST", "PORT", "USER", "PASSWORD")}
    wanted = {key: value for key, value in wanted.items() if value} | settings["OPTIONS"]
    given, rest = {}, {}
    for parameter in Conninfo.get_defaults():
        key = parameter.keyword.decode()
        if wanted.get(key) is None:
            continue
        if parameter.envvar is not None:
            given[parameter.envvar.decode()] = str(wanted[key])
        elif key in SECRETS:
            raise TapestryError(
                f"PostgreSQL's programs can be given {key} on their command line alone, where "
                "other users read it.",
                hint=f"Leave {key} out of DATABASE_URL: use a key or a password that is in a file "
                "which this user alone can read.",
            )
        else:
            rest[key] = str(wanted[key])
    if settings["NAME"]:
        rest["dbname"] = _name()
    return given, rest
