"""Reach whatever server an account names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tapestry.ingest.account import TIMEOUT, Account
from tapestry.ingest.imap.session import imap_line
from tapestry.ingest.nntp.session import nntp_line
from tapestry.ingest.stream import Line


@contextmanager
def reached(account: Account, timeout: float = TIMEOUT) -> Iterator[Line]:
    """Connect and log in for the length of the block.

    Raises LineBrokenError or RefusedError, in words.
    """
    line = nntp_line if account.kind == "nntp" else imap_line
    with line(account, timeout) as opened:
        yield opened
