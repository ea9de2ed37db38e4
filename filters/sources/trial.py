"""Trying a source while somebody waits: it must answer soon, or say why not."""

from __future__ import annotations

from collections.abc import Sequence

from tapestry.ingest.account import Account
from tapestry.ingest.session import open_session
from tapestry.ingest.stream import ListedFolder

PATIENCE = 10.0
"""Seconds that a server has for each answer."""


def try_out(account: Account) -> None:
    """Log in, and out again.  Raises TapestryError where that does not go."""
    with open_session(account, PATIENCE):
        pass


def list_folders(account: Account, patterns: Sequence[str] = ("*",)) -> list[ListedFolder]:
    """Return the folders there are, or the groups that names and patterns stand for."""
    with open_session(account, PATIENCE) as session:
        return session.list_folders(patterns)
