"""The sync states of a source's folders, in the database (tapestry.ingest.sync_state)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from filters.models.source import Folder, Source

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
        """Return the state of a folder, empty if none is stored."""
        row = Folder.objects.filter(source=self.source, name=stored_name(folder)).first()
        stored = dict(row.sync_state) if row else {}
        if stored.get("of", self._owner) != self._owner:
            return {}
        state: dict[str, Any] = json.loads(stored["text"]) if "text" in stored else stored
        return state

    def save(self, folder: str, state: dict[str, Any]) -> None:
        text = json.dumps(state)
        stored = {"text": text} if _STRANGE.search(text) else state
        Folder.objects.update_or_create(
            source=self.source,
            name=stored_name(folder),
            defaults={"sync_state": stored | {"of": self._owner}},
        )

    @property
    def _owner(self) -> str:
        return f"{self.account}@{self.source.audience}"
