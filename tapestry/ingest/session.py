"""Reach whatever server an account names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tapestry.ingest.account import TIMEOUT, Account
from tapestry.ingest.imap.session import open_imap
from tapestry.ingest.nntp.session import open_nntp
from tapestry.ingest.stream import MailSession


@contextmanager
def open_session(account: Account, timeout: float = TIMEOUT) -> Iterator[MailSession]:
    """Connect and log in for the length of the block.

    Raises ConnectionLostError or RefusedError, in words.
    """
    session = open_nntp if account.kind == "nntp" else open_imap
    with session(account, timeout) as opened:
        yield opened
