"""The database of a data directory: made where it is missing, and brought to this version."""

from __future__ import annotations

from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.core.management.sql import emit_post_migrate_signal
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Model

from filters.site.work import data_dir_permissions
from filters.site.work.parts import services
from filters.site.work.restoring import check_restored
from tapestry.core.clock import SECOND, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.files.file_lock import FOREVER
from tapestry.core.files.site_lock import lock_in_database, site_lock

APP_BEFORE_RELEASE = "filters"
"""The app whose migrations made the databases of before version 1.0."""


def make_database_ready(*, restoring: bool = False) -> None:
    """Make the data directory and the database where they are missing, and migrate older ones.

    Raise TapestryError for a database of before version 1.0, or if a restore was cut short there,
    unless that is ``restoring`` now.
    """
    data_dir_permissions.create(settings.DATA)
    if not restoring:
        check_restored(settings.DATA)
    if not is_of_older_version(or_empty=True):
        return
    with site_lock(services.data() / "run" / "migrate.lock", wait=FOREVER):
        if not connection.introspection.table_names():
            make_tables()
        elif is_of_older_version(or_empty=True):
            call_command("migrate", verbosity=0, interactive=False)


def seconds_apart() -> int:
    """Return how far the clocks of this machine and of PostgreSQL are apart; 0 without it."""
    if connection.vendor != "postgresql":
        return 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())")
        return int(abs(int(cursor.fetchone()[0]) - wall_clock() // SECOND))


def choose_locks() -> None:
    """Let the database have the locks of the site, if it is one that several machines can use."""
    if connection.vendor == "postgresql":
        from filters.site.work.db.advisory_locks import LOCKS

        lock_in_database(LOCKS)


def make_tables() -> None:
    """Make what `migrate` makes in an empty database, with all migrations applied.

    It takes a tenth of a second and not three: no model is rendered for each step of a migration.
    """
    executor = MigrationExecutor(connection)
    models: list[type[Model]] = [executor.recorder.Migration, *apps.get_models()]
    with connection.schema_editor() as editor:
        for model in models:
            if model._meta.can_migrate(connection):
                editor.create_model(model)
        for app, name in executor.loader.graph.nodes:
            executor.recorder.record_applied(app, name)
    emit_post_migrate_signal(verbosity=0, interactive=False, db=DEFAULT_DB_ALIAS)


def is_of_older_version(*, or_empty: bool = False) -> bool:
    """Tell whether the database was made by an older version, or is empty.

    Raise TapestryError for one of before version 1.0: no version reads it any more.
    """
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    applied = executor.loader.applied_migrations
    if any(app == APP_BEFORE_RELEASE for app, _ in applied):
        raise TapestryError(
            "This data directory is of before version 1.0 of Tapestry, which nothing reads now.",
            hint="Begin with another: manage.py up --data DIR, and ingest the mail again.",
        )
    if not applied and not or_empty:
        return False
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
