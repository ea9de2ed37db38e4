"""`manage.py ingest WHAT`: take mail in."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandParser

from filters import parts
from filters.management.plain import PlainCommand
from filters.stores import DjangoClock
from tapestry.core.errors import TapestryError
from tapestry.core.message import PUBLIC


class Command(PlainCommand):
    """Append the mail of an archive or a mailbox, with a progress bar on a terminal."""

    help = "Take in an mbox (.gz too), a Maildir, a directory of .eml, or imap(s)://user@host/box."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("what", metavar="WHAT")
        parser.add_argument(
            "--audience",
            default=PUBLIC,
            metavar="A",
            help="who may see it: public (the default), user:NAME or group:NAME",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Take it in and print what came of it."""
        from tqdm import tqdm

        from tapestry.ingest import ingest

        audience = options["audience"]
        _must_be_audience(audience)
        with tqdm(unit=" messages", disable=not sys.stderr.isatty(), leave=False) as bar:
            report = ingest(
                options["what"], parts.tables(), DjangoClock(), audience, progress=bar.update
            )
        rate = report.read / report.seconds if report.seconds else 0
        self.stdout.write(
            f"{report.read} read, {report.added} added, {report.duplicates} known already, "
            f"{report.broken} broken (kept with what could be read), "
            f"{report.seconds:.1f} s, {rate:.0f} messages/s"
        )


def _must_be_audience(audience: str) -> None:
    kind, _, name = audience.partition(":")
    if audience != PUBLIC and not (kind in ("user", "group") and name):
        raise TapestryError(
            f"{audience!r} is not an audience.",
            hint="Write public, user:NAME or group:NAME.",
        )
