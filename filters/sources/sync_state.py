"""The sync states of a source's folders, in the database (tapestry.ingest.sync_state)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models.signals import pre_delete

from filters.models.source import DeadLetters, Folder, Source
from tapestry.ingest.unavailable import STATE

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
    """The sync states of a source's folders in the database, for one account and audience."""

    durable = True
    source: Source
    account: str

    def load(self, folder: str) -> dict[str, Any]:
        """Return the state of a folder, empty if none is stored; with what was left of it."""
        name = stored_name(folder)
        row = Folder.objects.filter(source=self.source, name=name).first()
        is_ours = row is not None and row.sync_state.get("of", self._owner) == self._owner
        state = _state(row) if row is not None and is_ours else {}
        for left in DeadLetters.objects.filter(owner=self._owner, folder=name):
            present = state.setdefault(STATE, left.unavailable)
            if present["numbering"] == left.unavailable["numbering"]:
                present["missing"] = left.unavailable["missing"] | present["missing"]
        return state

    @transaction.atomic
    def save(self, folder: str, state: dict[str, Any]) -> None:
        """Replace the state of a folder; what it lacked for another audience is left for later."""
        name, text = stored_name(folder), json.dumps(state)
        stored = {"text": text} if _STRANGE.search(text) else state
        row, _ = Folder.objects.get_or_create(source=self.source, name=name)
        if row.sync_state.get("of", self._owner) != self._owner:
            _leave_dead_letters(row)
        if STATE in state:
            DeadLetters.objects.filter(owner=self._owner, folder=name).delete()
        Folder.objects.filter(pk=row.pk).update(sync_state=stored | {"of": self._owner})

    @property
    def _owner(self) -> str:
        return f"{self.account}@{self.source.audience}"


def connect_signals() -> None:
    """Follow the deletion of sources."""
    pre_delete.connect(_goes, sender=Folder, dispatch_uid="folder deleted")


def _goes(instance: Folder, origin: Any, **_: Any) -> None:
    """Leave what is missing to whoever reads the folder again; an account leaves nothing."""
    if getattr(origin, "model", type(origin)) is Source:
        _leave_dead_letters(instance)


def _leave_dead_letters(row: Folder) -> None:
    missed = _state(row).get(STATE, {})
    if missed.get("missing") and (owner := row.sync_state.get("of")):
        DeadLetters.objects.create(owner=owner, folder=row.name, unavailable=missed)


def _state(row: Folder) -> dict[str, Any]:
    stored = dict(row.sync_state)
    state: dict[str, Any] = json.loads(stored["text"]) if "text" in stored else stored
    return state


def forget_dead_letters(audience: str) -> None:
    """Remove what nobody is to ask for any more, as all mail of the audience is forgotten."""
    DeadLetters.objects.filter(owner__endswith=f"@{audience}").delete()
