"""Trying a source while somebody waits: it must answer soon, or say why not."""

from __future__ import annotations

from collections.abc import Sequence

from tapestry.ingest.account import Account
from tapestry.ingest.nntp.session import NntpLine
from tapestry.ingest.session import reached
from tapestry.ingest.stream import Offer

PATIENCE = 10.0
"""Seconds that a server has for each answer."""


def try_out(account: Account) -> None:
    """Log in, and out again.  Raises TapestryError where that does not go."""
    with reached(account, PATIENCE):
        pass


def offers(account: Account, wanted: Sequence[str] = ("*",)) -> list[Offer]:
    """Return the folders there are, or the groups that names and patterns stand for."""
    with reached(account, PATIENCE) as line:
        if isinstance(line, NntpLine):
            return line.offers(wanted)
        return line.offers()
