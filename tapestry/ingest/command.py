"""Ingest once, for `manage.py ingest`: an archive, a mailbox or newsgroups to the tables.

what ─> stream ─> bytes ─ parse ─> Message ─ append (with cursor) ─> rows
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.core.message import check_audience
from tapestry.core.ports import Clock, Intake
from tapestry.core.schema import MESSAGES
from tapestry.ingest.archive.files import open_archive_source, path_of
from tapestry.ingest.ingest_batch import IngestTarget, Progress, Tally, parsed_batches
from tapestry.ingest.pull import pull_account
from tapestry.ingest.session import KINDS, kind_of, read_url
from tapestry.ingest.staged import ingest_whole
from tapestry.ingest.sync_state import InMemorySyncStates
from tapestry.servers.account import Account
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.originals import originals_to_arrow
from tapestry.tables.rows import ORIGINALS, to_arrow
from tapestry.tables.write.append import cursor_of
from tapestry.tables.write.deduplicate import Deduplicator
from tapestry.tables.write.staging import Staging

AskPassword = Callable[[str], str]
"""Ask a person for the password of an address."""

LARGE = 4 * 1024 * 1024
"""Bytes of an archive on disk from which on several processes parse it."""

MOST_WORKERS = 4

_WHAT = (
    "Give an mbox, a Maildir, a directory of .eml files, a public-inbox, "
    "imap(s)://user@host/MAILBOX or nntp(s)://host/GROUP."
)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


@dataclass(slots=True)
class IngestReport(Tally):
    """The counts of an ingestion, and how long it took."""

    seconds: float = 0.0


def ingest(
    what: str,
    tables: Tables,
    clock: Clock,
    audience: str,
    intake: Intake,
    progress: Progress | None = None,
    ask_password: AskPassword | None = None,
    now: Callable[[], int] = wall_clock,
) -> IngestReport:
    """Ingest a file, directory, mailbox or newsgroups for an audience, from the stored cursor.

    An archive or directory becomes visible as a whole, with one ``ts``.  A command that was
    stopped anywhere and is run again ingests the rest, and nothing twice.
    Raises TapestryError if the source cannot be read; what was read before that is appended.  A
    KeyboardInterrupt says how much has been read.
    """
    check_audience(audience)
    if not what.strip():
        raise TapestryError("No mail is named to take in.", hint=_WHAT)
    start = time.monotonic()
    target = IngestTarget(tables, clock, audience, intake, progress, now)
    tally = Tally()
    scheme = _SCHEME.match(what)
    if scheme and kind_of(scheme[1]):
        account, folder = _account_and_folder(what, ask_password)
        reached = _Reached(progress)
        target = replace(target, progress=reached)
        try:
            reports = list(pull_account(account, [folder], target, InMemorySyncStates()))
        except KeyboardInterrupt:
            raise KeyboardInterrupt(_interrupted(reached.read, reached.total)) from None
        tally = sum((report.tally for report in reports), tally)
        errors = [report.error for report in reports if report.error]
        if errors:
            raise errors[0]  # after the other folders were pulled
    elif scheme:
        raise TapestryError(
            f"Mail cannot be pulled from {scheme[1].lower()}://.",
            hint=_WHAT,
        )
    else:
        path = path_of(what)
        with Staging.opened(tables, os.fsdecode(path), audience) as staging:
            stream = open_archive_source(what, audience, staging.cursor_of)
            try:
                ingest_whole(stream, replace(target, workers=_workers(path)), staging, tally)
            except KeyboardInterrupt:
                read = stream.resumed.messages + tally.passed
                raise KeyboardInterrupt(_interrupted(read, stream.total())) from None
    report = IngestReport(**asdict(tally), seconds=time.monotonic() - start)
    event(
        "pull",
        kind=scheme[1].lower() if scheme else "archive",
        read=report.read,
        added=report.added,
        known=report.duplicates,
        broken=report.broken,
        skipped=report.skipped,
        seconds=report.seconds,
    )
    return report


def count_new(
    what: str, tables: Tables, clock: Clock, audience: str, intake: Intake
) -> IngestReport:
    """Return what `ingest` would take in of a file or directory; nothing is stored.

    Raises TapestryError for a server: reading there is what takes mail in.
    """
    check_audience(audience)
    start, tally = time.monotonic(), Tally()
    if _SCHEME.match(what):
        raise TapestryError(
            "What a server has is known once it is taken in.",
            hint="Try this with a file or a directory.",
        )
    stream = open_archive_source(what, audience, partial(cursor_of, tables))
    originals = tables.data_files(ORIGINALS)
    known = Deduplicator(tables.data_files(MESSAGES), tables.root, originals)
    seen: set[str] = set()
    for batch in parsed_batches(stream, IngestTarget(tables, clock, audience, intake)):
        rows = to_arrow(MESSAGES, batch.messages)
        keys = known.new_keys(rows, originals_to_arrow(rows, batch.originals))
        new = {key for key in keys if key is not None} - seen
        seen |= new
        added, read = len(new), len(keys)
        tally += Tally(read, added, read - added, batch.broken, batch.skipped)
    return IngestReport(**asdict(tally), seconds=time.monotonic() - start)


class _Reached:
    """Remember the last call of a Progress."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self.read: int = 0
        self.total: int | None = None

    def __call__(self, read: int, total: int | None) -> None:
        self.read, self.total = read, total
        if self._progress is not None:
            self._progress(read, total)


def _interrupted(read: int, total: int | None) -> str:
    of_total = f" of {total:,}" if total and total > read else ""
    return f"{read:,}{of_total} have been read; run it again to go on."


def _workers(path: Path) -> int:
    """Return how many worker processes parse an archive; 0 for a small one."""
    size = 0
    for file in [path] if path.is_file() else path.rglob("*"):
        with suppress(OSError):  # renamed meanwhile, or not readable
            size += file.stat().st_size if file.is_file() else 0
        if size >= LARGE:
            return min(os.cpu_count() or 1, MOST_WORKERS)
    return 0


def _account_and_folder(url: str, ask_password: AskPassword | None) -> tuple[Account, str]:
    """Return the account and folder of a URL; a missing password is looked up or asked for."""
    account, folder = read_url(url)
    kind = KINDS[account.kind]
    folder = folder or kind.folder
    if not folder:
        raise TapestryError(
            f"Which newsgroups of {account.host}?",
            hint="Name them at the end: nntps://news.example.org/comp.databases, or comp.*.",
        )
    if account.secret or not account.user:
        return account, folder
    password = kind.password()
    where = f"{account.address}/{folder}"
    if password is None and ask_password is not None:
        password = ask_password(where)
    if password is None:
        raise TapestryError(
            f"No password is given for {where}.",
            hint=f"Set {kind.password_variable}, or write it into the URL: {account.kind}s://user:password@host/…",
        )
    return replace(account, secret=password), folder
