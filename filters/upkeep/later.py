"""What belongs to the tables of a backup, and was stored after its database was copied.

A cursor of the tables may stand behind a message that was withheld meanwhile, and what was
appended may be of an import: that is written once more, and added as the backup is restored.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from django.core import serializers
from django.db import connection, transaction

from filters.runs.models import Import
from filters.site.work.restoring import LATER
from filters.sources.models import SyncState
from filters.sources.pull.sync_state import StoredSyncStates, merged
from tapestry.core.files.durable import sync_directory, whole_file


def write_later(directory: Path) -> Path:
    """Write what is known of folders and imports now; return the path of the file.

    A database of an older version has no such tables.
    """
    known = {SyncState._meta.db_table, Import._meta.db_table}
    is_there = known <= set(connection.introspection.table_names())
    stored = chain(SyncState.objects.order_by("pk"), Import.objects.order_by("pk"))
    rows = list(stored) if is_there else []
    with whole_file(directory / LATER) as file:
        file.write(serializers.serialize("json", rows).encode())
    return directory / LATER


@transaction.atomic
def add_later(data: Path) -> None:
    """Add what a backup has in its file to the database that was restored."""
    for row in serializers.deserialize("json", (data / LATER).read_text()):
        if isinstance(row.object, Import):
            row.save()
        elif isinstance(row.object, SyncState):
            later = row.object
            states = StoredSyncStates(later.account, later.audience)
            state = merged(states.load(later.folder), later.content)
            states.save(later.folder, state)


def end_restore(data: Path) -> None:
    """Let the site be started: all is restored."""
    (data / LATER).unlink()
    sync_directory(data)
