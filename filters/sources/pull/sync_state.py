"""The sync states of folders, in the database (tapestry.ingest.sync_state)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from filters.sources.models import Folder, Source, SyncState
from tapestry.ingest.unavailable import STATE, unavailable_in

_STRANGE = re.compile(r"\\u(?:0000|d[89a-f])")
"""NUL and surrogates, as JSON writes them: PostgreSQL stores neither."""


def stored_name(folder: str) -> str:
    r"""Return the name of a folder as it is stored, whatever bytes a server sends.

    >>> stored_name("de.gr\udcfc\udcdfe")
    'de.gr\\udcfc\\udcdfe'
    """
    return folder.encode(errors="backslashreplace").decode().replace("\0", "\\0")[:500]


@dataclass(frozen=True, slots=True)
class StoredSyncStates:
    """The sync states of an account's folders in the database, for one audience."""

    durable = True
    account: str
    audience: str

    @classmethod
    def of(cls, source: Source) -> StoredSyncStates:
        """Return the sync states of what a source reads."""
        return cls(source.address, source.audience)

    def load(self, folder: str) -> dict[str, Any]:
        """Return the state of a folder, empty if none is stored."""
        row = self.rows().filter(folder=stored_name(folder)).first()
        return row.content if row is not None else {}

    def save(self, folder: str, state: dict[str, Any]) -> None:
        """Replace the state of a folder."""
        text = json.dumps(state)
        stored = {"text": text} if _STRANGE.search(text) else state
        SyncState.objects.update_or_create(
            account=self.account,
            audience=self.audience,
            folder=stored_name(folder),
            defaults={"state": stored},
        )

    def unavailable(self) -> dict[str, int]:
        """Return how many messages the server has not handed over yet, by stored folder name."""
        counts = {row.folder: unavailable_in(row.content) for row in self.rows()}
        return {folder: count for folder, count in counts.items() if count}

    def rows(self) -> QuerySet[SyncState]:
        return SyncState.objects.filter(account=self.account, audience=self.audience)


def forget(audience: str) -> None:
    """Forget which mail of an audience is to be asked for again; all, if no source reads it.

    What was read of address books and calendars is forgotten: whoever resumes has it read anew.
    """
    Folder.objects.filter(source__audience=audience, resources__isnull=False).delete()
    rows = SyncState.objects.filter(audience=audience)
    if not Source.objects.filter(audience=audience).exists():
        rows.delete()
    for row in rows:
        state = {key: value for key, value in row.content.items() if key != STATE}
        StoredSyncStates(row.account, audience).save(row.folder, state)


def merged(earlier: dict[str, Any], later: dict[str, Any]) -> dict[str, Any]:
    """Return the later state of a folder, for tables that may be of a moment before.

    What was missing earlier may not have come, and the folder may have changed since (its modseq).
    """
    later = {key: value for key, value in later.items() if key != "modseq"}
    before, now = earlier.get(STATE), later.get(STATE)
    if before and now and before["numbering"] == now["numbering"]:
        return later | {STATE: now | {"missing": before["missing"] | now["missing"]}}
    return later if now or not before else later | {STATE: before}
