"""`manage.py completion SHELL`: a script by which bash, zsh or fish completes `tapestry`."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from filters.site.management.base import TapestryCommand
from filters.site.management.every_command import of_a_site, of_this_machine
from tapestry.client.completion import SHELLS
from tapestry.client.described import merged


class Command(TapestryCommand):
    """Print the script, made from the parsers of all commands."""

    help = "Print a script by which a shell completes tapestry: bash, zsh or fish."
    requires_system_checks: list[str] = []
    needs_database = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("shell", metavar="SHELL", choices=list(SHELLS), help="which shell")

    def handle(self, *args: Any, **options: Any) -> None:
        commands = merged([*of_this_machine(), *of_a_site()])
        self.stdout.write(SHELLS[options["shell"]](commands), ending="")
