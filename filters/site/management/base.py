"""What every command does alike: one clear sentence for an error, a database that is ready."""

from __future__ import annotations

import json
import logging
import os
import sys
from argparse import ArgumentTypeError
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import Tags
from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError

from filters.people.models import User
from filters.site.management.command_line import CONSOLE, WITHOUT_DATA, called
from filters.site.settings.data_directory import usual
from filters.site.work import data_dir_permissions
from filters.site.work.db.database import make_database_ready
from tapestry.core.clock import parse_instant
from tapestry.core.errors import TapestryError
from tapestry.core.files.disk_space import DiskFullError, is_disk_full

DEVELOPERS = {
    "--version", "--settings", "--pythonpath", "--traceback", "--no-color", "--force-color",
    "--skip-checks",
}  # fmt: skip
"""Options of Django's that are there for work on Tapestry itself, and not in the help."""


class TapestryCommand(BaseCommand):
    """A command that says `error: …` and ends with 1 where something is wrong.

    ``needs_database``: make or update the database first, without a word.  ``logs_events``: a
    service, whose standard error is a log; other commands log what they do only with ``-v2``.
    """

    # The others are about the program, not about what a person sets, and import every page.
    requires_system_checks: list[str] | tuple[str, ...] = [Tags.security]
    needs_database = True
    logs_events = False
    suppressed_base_arguments = DEVELOPERS

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        """Return the parser of the command, with the options that all have.

        What `tapestry` writes to a program is JSON, where a command has it.
        """
        parser = super().create_parser(prog_name, subcommand, **options)
        if prog_name == CONSOLE and not sys.stdout.isatty():
            parser.set_defaults(json=True)
        if subcommand not in WITHOUT_DATA:
            default = os.environ.get("TAPESTRY_DATA") or usual(os.environ)
            parser.add_argument(
                "--data",
                dest="data_directory",
                type=_directory,
                metavar="DIR",
                help=f"the directory of all that is stored ({default})",
            )
        return parser

    def run_from_argv(self, argv: list[str]) -> None:
        """Run from the command line."""
        try:
            if self.needs_database:
                data_dir_permissions.apply_umask(settings.DATA)
            if not self.logs_events and not {"-v2", "--verbosity=2"}.intersection(argv):
                for name in ("tapestry", "filters"):
                    logging.getLogger(name).setLevel(logging.WARNING)
            super().run_from_argv(argv)
        except BrokenPipeError:
            # The reader of the output has ended (`… | head`); Python would complain at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except Exception as error:
            told = isinstance(error, TapestryError | OSError | DatabaseError) or is_disk_full(error)
            if "--traceback" in argv or not told:
                raise
            self.stderr.write(called(f"error: {sentence(error)}", argv[0]))
            sys.exit(1)
        except KeyboardInterrupt as interruption:
            self.stderr.write(f"interrupted: {interruption}".rstrip(": "))
            sys.exit(130)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Make the database ready, then run."""
        wanted = options.get("data_directory")
        if wanted is not None and wanted != settings.DATA:
            raise TapestryError(
                "The data directory is chosen before the settings are read.",
                hint="Run manage.py COMMAND --data DIR, or set TAPESTRY_DATA.",
            )
        if self.needs_database:
            make_database_ready()
        return super().execute(*args, **options)

    def tell(self, row: Mapping[str, object], words: str, *, is_json: bool) -> None:
        """Print what came of it: as a JSON object for programs, or in words."""
        self.stdout.write(json.dumps(row, ensure_ascii=False) if is_json else words)


def sentence(error: Exception) -> str:
    """Return what to tell a person of an error."""
    if is_disk_full(error):
        error = DiskFullError()
    if isinstance(error, TapestryError):
        return error.render()
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}."
    if isinstance(error, DatabaseError):
        return f"The database cannot be used: {error}."
    return str(error) or type(error).__name__


def user_named(name: str) -> User:
    """Return a person by the name of their account; TapestryError if there is none."""
    user = User.objects.filter(username=name).first()
    if user is None:
        raise TapestryError(
            f"There is no user {name!r}.", hint="Make one with `manage.py createsuperuser`."
        )
    return user


def _directory(text: str) -> Path:
    if not text:
        raise ArgumentTypeError("it names no directory")
    return Path(text).absolute()


def instant(text: str) -> int:
    """Read an ISO instant, for argparse."""
    try:
        return parse_instant(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error
