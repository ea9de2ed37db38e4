"""`manage.py ingest WHAT`: take mail in."""

from __future__ import annotations

import sys
from dataclasses import asdict
from getpass import getpass
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandParser

from filters.people.names.known_audiences import require_known
from filters.runs.store.filter_store import DjangoClock
from filters.site.management.base import TapestryCommand
from filters.site.work.crypto import arrival_tokens
from filters.site.work.parts import services
from filters.sources.pull.intake import SiteIntake
from tapestry.core.message import PUBLIC
from tapestry.tables.delta.log import newest_instant

EVERYBODY = (
    "Everybody will be able to read what comes in; "
    "--audience user:NAME or group:NAME is for fewer people."
)
"""What is said before mail is taken in for the default audience."""

if TYPE_CHECKING:
    from tapestry.ingest.command import IngestReport


class Command(TapestryCommand):
    """Append the mail of an archive or a mailbox, with a progress bar on a terminal."""

    help = (
        "Take in an mbox (.gz too), a Maildir, a directory of .eml, a public-inbox (git), "
        "https://host/list.mbox.gz, imap(s)://user@host/box, or nntp(s)://host/group."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("what", metavar="WHAT")
        parser.add_argument(
            "--audience",
            metavar="A",
            help="who may see it: public (the default), user:NAME or group:NAME",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="take nothing in: say how much is new"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Take it in and print what came of it."""
        from tapestry.ingest.archive.download import downloaded

        audience = PUBLIC if options["audience"] is None else options["audience"]
        require_known(audience)
        if options["audience"] is None:
            self.stderr.write(EVERYBODY, style_func=str)
        with downloaded(options["what"], services.tables().root) as what:
            self._take_in(what, audience, options)

    def _take_in(self, what: str, audience: str, options: dict[str, Any]) -> None:
        from tqdm import tqdm

        from tapestry.ingest.command import count_new, ingest

        target = services.tables(), DjangoClock(), audience, _AudienceIntake(audience)
        if options["dry_run"]:
            report = count_new(what, *target)
            words = f"Nothing is stored: {_summary(report)}"
            self.tell({**asdict(report), "dry_run": True}, words, is_json=options["json"])
            return
        with tqdm(unit=" messages", disable=not sys.stderr.isatty(), leave=False) as bar:

            def show(read: int, total: int | None) -> None:
                bar.total = total
                bar.update(read - bar.n)

            report = ingest(
                what,
                *target,
                show if sys.stderr.isatty() else None,
                _ask_password if sys.stdin.isatty() else None,
            )
        # What was known already came before, and may be on its way.
        token = arrival_tokens.of_mail(newest_instant(services.tables()))
        words = f"{_summary(report)}\nToken: {token}"
        self.tell({**asdict(report), "token": token}, words, is_json=options["json"])


class _AudienceIntake(SiteIntake):
    """Mail for an audience, as long as its account or group is there."""

    def __init__(self, audience: str) -> None:
        super().__init__()
        self._audience = audience

    def is_forbidden(self) -> bool:
        """Return False; raise TapestryError if the account or group was deleted meanwhile."""
        require_known(self._audience)
        return False


def _summary(report: IngestReport) -> str:
    """Return in one line what was taken in.

    >>> from tapestry.ingest.command import IngestReport
    >>> _summary(IngestReport()), _summary(IngestReport(read=5, duplicates=5, seconds=0.5))
    ('Nothing new.', 'Nothing new: 5 read, all known already, 0.5 s.')
    >>> _summary(IngestReport(skipped=2))
    'Nothing new. 2 messages that Tapestry itself had sent were left out.'
    """
    own = "1 message" if report.skipped == 1 else f"{report.skipped:,} messages"
    verb = "was" if report.skipped == 1 else "were"
    note = f" {own} that Tapestry itself had sent {verb} left out." if report.skipped else ""
    if not report.read:
        return f"Nothing new.{note}"
    if report.read == report.duplicates:
        known = f"{report.read:,} read, all known already, {report.seconds:.1f} s."
        return f"Nothing new: {known}{note}"
    rate = report.read / report.seconds if report.seconds else 0
    return (
        f"{report.read} read, {report.added} added, {report.duplicates} known already, "
        f"{report.broken} broken (kept with what could be read), "
        f"{report.seconds:.1f} s, {rate:.0f} messages/s{note and '.' + note}"
    )


def _ask_password(address: str) -> str:
    return getpass(f"Password for {address}: ")
