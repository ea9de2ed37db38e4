"""Check all that is stored: the tables and their indexes, the database, and one against the other.

A check only reads, and may go on while the site runs.  A repair is alone.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from django.db import DatabaseError, connection

from filters.authoring.models import Filter
from filters.compose.models import SmtpAccount
from filters.delivery.models import Destination
from filters.inbox.models import Match
from filters.people.models import AuthenticatorApp
from filters.runs.models import Clock, ReleaseCounter, SharedWindow
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.crypto.encryption import KEY_FILE, decrypt
from filters.site.work.db.batching import batched
from filters.site.work.db.database import is_of_older_version
from filters.site.work.parts import services
from filters.sources.models import Source
from tapestry.core.errors import TapestryError
from tapestry.core.files.damage import DamagedFileError
from tapestry.core.files.file_lock import FOREVER
from tapestry.core.files.site_lock import site_lock
from tapestry.core.files.sorted_hashes import Hashes, contains, hash_texts
from tapestry.core.schema import MESSAGES
from tapestry.predicate_index.check import check_predicate_index
from tapestry.predicate_index.store import PredicateIndex
from tapestry.tables.check.data import check_tables, row_keys
from tapestry.tables.check.repair import repair as repair_tables
from tapestry.tables.check.report import RESTORE, Report

DATABASE, KEYS = "database", "keys"

_BATCH = 10_000


def check() -> Report:
    """Read all that is stored, and report what is damaged; nothing is changed.

    Raise TapestryError if the database is whole, but of an older version: this one cannot read it.
    """
    report = Report()
    tables = services.tables()
    # The matches before the messages: what is appended and found meanwhile is in both.
    matches = _check_database(report)
    contents = check_tables(tables.root, report)
    check_predicate_index(tables.root, report)
    if matches is not None and MESSAGES in contents:
        paths = [tables.root / MESSAGES / name for name in contents[MESSAGES].rows]
        _check_matches(matches, paths, report)
    return report


def repair() -> list[str]:
    """Mend what can be mended; return what was done, a sentence each.

    The caller has made sure that no other part of the site runs.
    """
    from filters.runs import rounds

    tables = services.tables()
    with (
        site_lock(tables.root / "compact.lock", wait=FOREVER),  # before the lanes, as to forget
        rounds.all_lanes(),
        DjangoClock().lock(),
    ):
        for index in PredicateIndex.all_parts(tables.root):
            index.drop_if_damaged()
        return repair_tables(tables)


def _check_database(report: Report) -> Hashes | None:
    """Check the database by itself; return the messages of all matches, None without any."""
    path = Path(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite" and path.is_absolute() and not path.exists():
        return None
    try:
        if connection.vendor == "sqlite":
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA integrity_check")
                problems = [row[0] for row in cursor.fetchall() if row[0] != "ok"]
            if problems:
                raise DatabaseError(problems[0])
        if is_of_older_version():
            raise TapestryError(
                "This database is of an older version of Tapestry, and cannot be checked as it is.",
                hint="Start this version on it, which brings it up to date: manage.py up",
            )
        report.read(DATABASE, "tables", len(connection.introspection.table_names()))
        _check_instants(report)
        _check_keys(report)
        matched = _matched()
        report.read(DATABASE, "matched messages", len(matched))
    except DatabaseError as error:
        meaning = "people, filters and matches are in it"
        report.damaged(DATABASE, path, str(error).partition("\n")[0], meaning, RESTORE)
        return None
    return matched


def _matched() -> Hashes:
    """Return a sorted hash of the Message-ID and the audience of each match."""
    pairs = Match.objects.values_list("msgid", "audience").iterator(chunk_size=_BATCH)
    hashes = [hash_texts(map("\0".join, batch)) for batch in batched(pairs, _BATCH)]
    return np.unique(np.concatenate([np.empty(0, dtype="<u8"), *hashes]))


def _check_instants(report: Report) -> None:
    """Report positions in the database beyond the last that there is."""
    last = Clock.instant()
    released = ReleaseCounter.objects.values_list("last", flat=True).first() or 0
    ahead = {
        "filters have run": Filter.objects.filter(since__gt=last).count(),
        "shared windows have run": SharedWindow.objects.filter(since__gt=last).count(),
        "destinations were served": Destination.objects.filter(cursor__gt=released).count(),
    }
    for what, number in ahead.items():
        if number:
            report.damaged(
                DATABASE,
                connection.settings_dict["NAME"],
                f"{number} {what} beyond the last instant or release that was stored",
                "what comes until then would be left out",
                RESTORE,
            )


def _check_keys(report: Report) -> None:
    """Report a key that does not open the secrets that were stored with it."""
    data = services.data()
    stored = [
        *Source.objects.exclude(secret="").values_list("secret", flat=True),
        *Destination.objects.exclude(secret="").values_list("secret", flat=True),
        *Destination.objects.exclude(former_secret="").values_list("former_secret", flat=True),
        *AuthenticatorApp.objects.values_list("secret", flat=True),
        *SmtpAccount.objects.exclude(secret="").values_list("secret", flat=True),
    ]
    report.read(KEYS, "secrets", len(stored))
    for secret in stored:
        try:
            decrypt(secret, data)
        except TapestryError as error:
            meaning = "passwords of sources and destinations, and secrets of apps, cannot be read"
            remedy = error.hint or RESTORE
            report.damaged(KEYS, data / KEY_FILE, error.message.rstrip("."), meaning, remedy)
            return


def _check_matches(matched: Hashes, paths: list[Path], report: Report) -> None:
    try:
        missing = _still_missing(_missing(matched, paths))
    except (DamagedFileError, FileNotFoundError):
        return  # the file is reported
    if len(missing):
        report.damaged(
            DATABASE,
            connection.settings_dict["NAME"],
            f"{len(missing)} messages that filters found are not in the tables",
            "lists show their line, and their pages cannot be opened",
            "have their sources read again, or restore a backup of the data directory",
        )


def _missing(matched: Hashes, paths: list[Path]) -> Hashes:
    """Return those of the matched messages that are in none of the files that are still there."""
    stored = row_keys([path for path in paths if path.exists()], ("msgid", "audience"))
    return matched[~contains(stored, matched)] if len(stored) else matched


def _still_missing(missing: Hashes) -> Hashes:
    """Return those that are matched and missing now: mail is removed with its matches meanwhile."""
    if not len(missing):
        return missing
    tables = services.tables()
    with site_lock(tables.root / "compact.lock", wait=FOREVER):  # whoever removes has it throughout
        matched = np.intersect1d(missing, _matched())
        return _missing(matched, [Path(file.path) for file in tables.data_files(MESSAGES)])
