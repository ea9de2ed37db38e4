"""Pull once: from whatever a person names to the tables.

what ─> source ─> bytes ─ parse ─> Message ─ append (with cursor) ─> rows
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.message import PUBLIC
from tapestry.core.ports import Clock
from tapestry.ingest.account import Account, AskPassword, read_url
from tapestry.ingest.archive.files import open_archive_source, path_of
from tapestry.ingest.ingest_batch import BATCH, IngestTarget, Progress, Tally, ingest_batches
from tapestry.ingest.pull import pull_account
from tapestry.ingest.quoted_reply import storable
from tapestry.ingest.stream import InMemorySyncStates
from tapestry.tables.log import Tables

PASSWORDS = {"imap": "TAPESTRY_IMAP_PASSWORD", "nntp": "TAPESTRY_NNTP_PASSWORD"}
"""Environment variables with the password, where the URL has none."""

LARGE = 4 * 1024 * 1024
"""Bytes of an archive, file or directory as it lies there, from which on processes parse it."""

MOST_WORKERS = 4

_AUDIENCE = re.compile(r"public|(?:user|group):\S(?:.*\S)?", re.DOTALL)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What one pull did; ``broken`` messages were kept with what could be read of them."""

    read: int
    added: int
    duplicates: int
    broken: int
    seconds: float


def ingest(
    what: str,
    tables: Tables,
    clock: Clock,
    audience: str = PUBLIC,
    progress: Progress | None = None,
    ask_password: AskPassword | None = None,
    now: Callable[[], int] = wall_clock,
    batch: int = BATCH,
) -> IngestReport:
    """Take in a file, directory, mailbox or newsgroups for an audience; go on if begun.

    Every batch is one append with one ``ts``.  Whoever is stopped, anywhere, and starts
    again takes in the rest, and nothing twice.  Raises TapestryError if the source cannot
    be read; what was appended before that stays.
    """
    check_audience(audience)
    started = time.monotonic()
    target = IngestTarget(tables, clock, audience, progress, now, batch)
    tally = Tally()
    scheme = _SCHEME.match(what)
    if scheme and scheme[1].lower() in ("imap", "imaps", "nntp", "nntps"):
        account, folder = _account_and_folder(what, ask_password)
        errors = []
        for report in pull_account(account, [folder], target, InMemorySyncStates()):
            tally += report.tally
            if report.error is not None:
                errors.append(report.error)
        if errors:
            raise errors[0]  # once the other groups have had their turn
    elif scheme:
        raise TapestryError(
            f"Mail cannot be pulled from {scheme[1].lower()}://.",
            hint="Give an mbox, a Maildir, a directory of .eml files, imap(s)://user@host/MAILBOX "
            "or nntp(s)://host/GROUP.",
        )
    else:
        source = open_archive_source(what, audience, target.cursor_of)
        ingest_batches(source, replace(target, workers=_workers(path_of(what))), tally)
    seconds = time.monotonic() - started
    return IngestReport(tally.read, tally.added, tally.duplicates, tally.broken, seconds)


def _workers(path: Path) -> int:
    """Return how many processes should parse an archive: for a small one, none but this."""
    size = 0
    for file in [path] if path.is_file() else path.rglob("*"):
        with suppress(OSError):  # renamed meanwhile, or nobody's to see
            size += file.stat().st_size if file.is_file() else 0
        if size >= LARGE:
            return min(os.cpu_count() or 1, MOST_WORKERS)
    return 0


def check_audience(audience: str) -> None:
    """Raise TapestryError unless this is ``public``, ``user:<id>`` or ``group:<id>``.

    A group's name may hold blanks and colons: ``group:Human Resources``.
    """
    if not _AUDIENCE.fullmatch(audience) or storable(audience) != audience:
        raise TapestryError(
            f"“{audience}” is not an audience.", hint="Write public, user:<name> or group:<name>."
        )


def _account_and_folder(url: str, ask_password: AskPassword | None) -> tuple[Account, str]:
    """Return the account and place of a URL, with a password from wherever there is one."""
    account, folder = read_url(url)
    if account.kind == "imap":
        folder = folder or "INBOX"
    elif not folder:
        raise TapestryError(
            f"Which newsgroups of {account.host}?",
            hint="Name them at the end: nntps://news.example.org/comp.databases, or comp.*.",
        )
    if account.secret or not account.user:
        return account, folder
    variable = PASSWORDS[account.kind]
    password = os.environ.get(variable)
    where = f"{account.address}/{folder}"
    if password is None and ask_password is not None:
        password = ask_password(where)
    if password is None:
        raise TapestryError(
            f"No password is given for {where}.",
            hint=f"Set {variable}, or write it into the URL: {account.kind}s://user:password@host/…",
        )
    return account.with_secret(password), folder
