"""`manage.py man`: the manual page of `tapestry`, made from the parsers of its commands."""

from __future__ import annotations

from typing import Any

from filters.site.management.base import TapestryCommand
from filters.site.management.every_command import of_a_site, of_this_machine
from tapestry.client.main import EXIT_CODES, HELP
from tapestry.client.manual import page


class Command(TapestryCommand):
    """Print the page, as `man` reads it."""

    help = "Print the manual page, to be read with: tapestry man | man -l -"
    requires_system_checks: list[str] = []
    needs_database = False

    def handle(self, *args: Any, **options: Any) -> None:
        sections = {"Here": of_this_machine(), "Asked of a site": of_a_site()}
        self.stdout.write(page(HELP, sections, EXIT_CODES), ending="")
