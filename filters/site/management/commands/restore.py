"""`manage.py restore BACKUP --data DIR`: bring a backup back, on this machine or another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandParser

from filters.site.launch.claim import claimed
from filters.site.management.base import TapestryCommand
from filters.site.work.db.database import make_database_ready
from filters.site.work.parts import services


class Command(TapestryCommand):
    """Restore a backup into an empty data directory, upgrade it, and check all of it."""

    help = "Restore a backup into an empty data directory."
    needs_database = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("backup", type=Path, metavar="BACKUP", help="what backup has made")
        parser.add_argument(
            "--dry-run", action="store_true", help="restore nothing: read all of the backup"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Restore, and end with 1 if a check finds anything damaged."""
        from filters.compose.sending.outbox import hold_restored
        from filters.imap.folders import forget_uids
        from filters.jmap.records import forget_accounts
        from filters.people.sessions.record import end_restored
        from filters.runs.store.release import begin_anew
        from filters.upkeep.backup import examine, restore
        from filters.upkeep.later import add_later, end_restore

        if options["dry_run"]:
            manifest = examine(options["backup"])
            self.stdout.write(
                f"Nothing is restored. The backup of {manifest.made} is whole: "
                f"{len(manifest.files):,} files, {manifest.size:,} bytes, "
                f"{manifest.rows.get('messages', 0):,} messages."
            )
            return
        with claimed(services.data()):
            backup = restore(options["backup"])
            make_database_ready(restoring=True)
            add_later(services.data())
            begin_anew()
            hold_restored()
            forget_uids()
            forget_accounts()
            end_restored()
            end_restore(services.data())
        self.stdout.write(f"Restored into {services.data()} what was stored on {backup.made}.")
        call_command("check_data", stdout=self.stdout)
        self.stdout.write(f"Go on with: manage.py up --data {services.data()}")
