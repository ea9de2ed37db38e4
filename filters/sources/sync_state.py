"""What a source remembers of its folders or groups, in the database."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from filters.models.source import Folder, Source

_STRANGE = re.compile(r"\\u(?:0000|d[89a-f])")
"""NUL and half characters, as JSON writes them: PostgreSQL takes neither."""


def stored_name(folder: str) -> str:
    r"""Return the name of a folder or group as it is stored, whatever a server calls it.

    >>> place_name("de.gr\udcfc\udcdfe")
    'de.gr\\udcfc\\udcdfe'
    """
    return folder.encode(errors="backslashreplace").decode().replace("\0", "\\0")[:500]


@dataclass(frozen=True, slots=True)
class StoredSyncStates:
    """The memory of a source's places; it holds for one account and one audience only."""

    source: Source
    account: str

    def load(self, folder: str) -> dict[str, Any]:
        """Return what was remembered last, empty if nothing was."""
        found = Folder.objects.filter(source=self.source, name=stored_name(folder)).first()
        kept = dict(found.sync_state) if found else {}
        if kept.get("of", self._of) != self._of:
            return {}
        written: dict[str, Any] = json.loads(kept["text"]) if "text" in kept else kept
        return written

    def save(self, folder: str, state: dict[str, Any]) -> None:
        """Remember that instead, at once."""
        text = json.dumps(state)
        kept = {"text": text} if _STRANGE.search(text) else state
        Folder.objects.update_or_create(
            source=self.source,
            name=stored_name(folder),
            defaults={"sync_state": kept | {"of": self._of}},
        )

    @property
    def _of(self) -> str:
        return f"{self.account}@{self.source.audience}"
