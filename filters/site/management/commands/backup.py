"""`manage.py backup DIR`: copy all that is stored, while the site runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.template.defaultfilters import filesizeformat

from filters.site.management.base import TapestryCommand


class Command(TapestryCommand):
    """Back up the database, the tables and the keys."""

    help = "Copy all that is stored to a new directory, while the site runs."
    needs_database = False  # one of an older version is copied as it is

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("directory", type=Path, metavar="DIR", help="a new directory")

    def handle(self, *args: Any, **options: Any) -> None:
        """Back up, and say what was copied."""
        from filters.upkeep.backup import back_up

        backup = back_up(options["directory"])
        rows = ", ".join(f"{number:,} {table}" for table, number in backup.rows.items())
        self.stdout.write(
            f"Backed up into {options['directory']}: {rows}, {_size(backup.size)}.\n"
            "It holds the keys: whoever has it can read all mail and all stored passwords."
        )


def _size(size: int) -> str:
    return filesizeformat(size).replace("\xa0", " ")
