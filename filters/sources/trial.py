"""Trials of a source while a person waits for the page, with a short time-out."""

from __future__ import annotations

from collections.abc import Sequence

from tapestry.ingest.account import Account
from tapestry.ingest.session import open_session
from tapestry.ingest.stream import ListedFolder

PATIENCE = 10.0
"""Seconds that a server has for each response."""


def try_out(account: Account) -> None:
    """Authenticate and disconnect.  Raises TapestryError if that fails."""
    with open_session(account, PATIENCE):
        pass


def list_folders(account: Account, patterns: Sequence[str] = ("*",)) -> list[ListedFolder]:
    """Return the folders there are, or the groups that names and patterns stand for."""
    with open_session(account, PATIENCE) as session:
        return session.list_folders(patterns)
