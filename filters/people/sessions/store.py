"""Sessions in the database, of which a request saves what it has changed, and nothing else.

    read ─ changed ─> locked, read again ─ the changes alone ─> saved

Django saves all that a request has read: one that takes long, and keeps a search, would undo what
another of the same browser has kept or used up meanwhile, such as the challenge of a passkey.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from django.contrib.sessions.backends import db
from django.db import transaction


class SessionStore(db.SessionStore):
    """A session as one request knows it."""

    def __init__(self, session_key: str | None = None) -> None:
        super().__init__(session_key)
        self._stored: dict[str, Any] = {}  # when it was read, or saved, last

    def load(self) -> dict[str, Any]:
        """Read a session, and remember what it was."""
        content: dict[str, Any] = super().load()
        self._stored = deepcopy(content)
        return content

    @transaction.atomic
    def save(self, must_create: bool = False) -> None:
        """Store what was changed since it was read; raise UpdateError where it has ended."""
        if not must_create and self.session_key is not None:
            self._session_cache = self._merged(dict(self.items()))
        super().save(must_create)
        self._stored = deepcopy(dict(self.items()))

    def _merged(self, content: dict[str, Any]) -> dict[str, Any]:
        """Return what is stored now with the changes of this request; lock it."""
        row = self.model.objects.select_for_update().filter(session_key=self.session_key).first()
        if row is None:
            return content
        names = self._stored.keys() | content.keys()
        changed = {name for name in names if self._stored.get(name) != content.get(name)}
        now: dict[str, Any] = self.decode(row.session_data)
        kept = {name: now[name] for name in now.keys() - changed}
        return kept | {name: content[name] for name in changed & content.keys()}
