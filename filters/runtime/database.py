"""The database and the tables of a data directory: made where they are missing, and upgraded."""

from __future__ import annotations

from django.conf import settings
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.executor import MigrationExecutor

from filters.runtime import data_dir_permissions, services
from filters.runtime.restoring import check_restored


def make_database_ready(*, restoring: bool = False) -> None:
    """Make the data directory and the database where they are missing, and upgrade older ones.

    Raise TapestryError if a restore was cut short there, unless that is ``restoring`` now.
    """
    data_dir_permissions.create(settings.DATA)
    if not restoring:
        check_restored(settings.DATA)
    if _is_to_be_migrated(_migrations()):
        from tapestry.ingest.mime.parse import received_of
        from tapestry.tables.upgrade import upgrade

        upgrade(services.tables(), received_of)
        call_command("migrate", verbosity=0, interactive=False)


def is_of_older_version() -> bool:
    """Tell whether the database was made by an older version; an empty one was made by none."""
    executor = _migrations()
    return bool(executor.loader.applied_migrations) and _is_to_be_migrated(executor)


def _migrations() -> MigrationExecutor:
    return MigrationExecutor(connections[DEFAULT_DB_ALIAS])


def _is_to_be_migrated(executor: MigrationExecutor) -> bool:
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
