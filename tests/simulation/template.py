"""What all worlds begin with: the product, imported once, and a database with its tables."""

from __future__ import annotations

import os
import pkgutil
import sys
import tempfile
import warnings
from contextlib import suppress
from importlib import import_module
from pathlib import Path

MEMORY = Path("/dev/shm")
"""Where there is one, a sync costs next to nothing."""

LATER = (
    *("fakeredis", "pandas", "pyarrow.acero", "pyarrow.compute", "pyarrow.parquet"),
    *("pywebpush", "sqlglot.dialects"),
)
"""What a site imports where it is first needed."""


def worlds_directory() -> Path:
    """Return a new directory for worlds, in memory if that can be."""
    where = MEMORY if os.access(MEMORY, os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="tapestry-worlds-", dir=where))


def prepare(directory: Path) -> Path:
    """Import the product, and return a database file with its tables.

    Nothing of it is opened here that would not survive a fork: no thread, no connection.
    """
    database = directory / "template.sqlite3"
    os.environ.update(
        TAPESTRY_DATA=str(directory),
        DJANGO_SETTINGS_MODULE="tapestry.settings",
        REDIS_URL="redis://127.0.0.1:1/0",
    )
    import django

    django.setup()
    if (process := os.fork()) == 0:
        _migrate(database)
    _import_all()
    if os.waitpid(process, 0)[1]:
        raise SystemExit("the database of the worlds could not be made")
    return database


def _migrate(database: Path) -> None:
    status = 1
    try:
        from django.db import connection

        from filters.site.work.db.database import make_tables

        connection.settings_dict["NAME"] = database
        make_tables()
        connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        status = 0
    finally:
        sys.stderr.flush()
        os._exit(status)


def _import_all() -> None:
    """Import all that a site may import later: no world pays for it again."""
    import filters
    import tapestry

    warnings.simplefilter("ignore")
    for package in (tapestry, filters):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            skipped = (".migrations.", "tests.bench", "filters.site.launch.", "tapestry.spark.")
            if not module.name.startswith(skipped[1:]) and skipped[0] not in module.name:
                import_module(module.name)
    for name in LATER:
        import_module(name)
    _warm_up()


def _warm_up() -> None:
    """Make what every process makes once: grammars, templates, the handler of requests."""
    from django.template.loader import get_template
    from django.test.client import ClientHandler
    from django.urls import get_resolver

    from filters.authoring.compilation.understanding import understand
    from tapestry.core.errors import TapestryError
    from tapestry.core.program_version import program_version
    from tapestry.query.context import Context
    from tapestry.query.phrases.catalogue import KINDS
    from tests.simulation import site_orders

    program_version()
    get_resolver().url_patterns  # noqa: B018
    pages = Path(__file__).parent.parent.parent / "templates"
    for page in sorted(pages.rglob("*.html")):
        get_template(str(page.relative_to(pages)))
    site_orders.handler = ClientHandler(enforce_csrf_checks=False)
    site_orders.handler.load_middleware()
    for kind in KINDS.values():
        with suppress(TapestryError):
            understand(kind.example, Context("warm"))
