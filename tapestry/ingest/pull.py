"""Pull the folders of an account, one after the other, over one session.

open_session ─> expand ─> each folder: open ─ ingest_batches ─> rows and cursor ─> report
     ^                                              │
     └──────────────── backoff ─────────────────────┘ connection lost
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from tapestry.core.backoff import pause_after
from tapestry.core.errors import TapestryError
from tapestry.core.ports import SyncStates
from tapestry.core.surroundings import is_unforeseen
from tapestry.ingest.fetch import UnavailableError
from tapestry.ingest.ingest_batch import IngestTarget, Tally, ingest_batches
from tapestry.ingest.session import MailSession, open_session
from tapestry.ingest.stream import CursorOf
from tapestry.servers.account import Account, ConnectionLostError, RefusedError
from tapestry.tables.write.append import cursor_of

MOST_LOSSES = 6
"""Times in a row that the connection may be lost while no message comes."""

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 30.0


@dataclass(frozen=True, slots=True)
class FolderReport:
    """The outcome of a folder's pull; ``complete`` unless a part of it was left for another time.

    Then ``reached`` of about ``total`` messages have been read, those of earlier pulls included.
    ``error`` is set if the folder cannot be read, whether somebody foresaw why or not, or if the
    connection was lost over it: the caller can then pull another first.  ``remaining`` counts the
    folders still to be pulled.
    """

    folder: str
    tally: Tally = field(default_factory=Tally)
    error: Exception | None = None
    complete: bool = True
    reached: int = 0
    total: int | None = None
    remaining: int = 0


def pull_account(
    account: Account,
    patterns: Sequence[str],
    target: IngestTarget,
    sync_states: SyncStates,
    order: Callable[[list[str]], list[str]] = list,
    hidden: Sequence[str] = (),
    pause: Callable[[float], None] = time.sleep,
    seconds: float | None = None,
) -> Iterator[FolderReport]:
    """Ingest what is new in each folder, in ``order``; yield a report after each.

    ``hidden`` are parents of folders that hold our deliveries: what is in them is not pulled.
    A lost connection is opened again with exponential backoff, and reading goes on from the
    cursor.  Raises ConnectionLostError after MOST_LOSSES losses in a row, RefusedError if the
    server refuses the account or every folder.  What was appended stays.  After an error that
    nobody foresaw, the other folders are read over a connection of their own.

    ``seconds`` limits all of it: a server that sends a byte now and then holds nobody up.  Then
    the connection is lost.
    """
    deadline = time.monotonic() + (math.inf if seconds is None else seconds)
    waiting: deque[str] | None = None
    tally = Tally()
    losses = 0
    refusals, reports = [], 0
    while True:
        passed_before = tally.passed
        try:
            limit = None if seconds is None else max(0.0, deadline - time.monotonic())
            with open_session(account, seconds=limit) as session:
                if waiting is None:
                    waiting = deque(order(session.expand(patterns, hidden)))
                stored = partial(cursor_of, target.tables)
                while waiting:
                    report = _pull_folder(session, waiting[0], target, stored, sync_states, tally)
                    waiting.popleft()
                    report = replace(report, remaining=len(waiting))
                    tally, passed_before, losses = Tally(), 0, 0
                    reports += 1
                    if isinstance(report.error, RefusedError):
                        refusals.append(report.error)
                    yield report
                    if not report.complete or target.intake.is_over():
                        waiting.clear()
                    elif report.error is not None and is_unforeseen(report.error):
                        break  # what the server says next may still be of that folder
            if not waiting:
                break
        except ConnectionLostError as error:
            losses = 1 if tally.passed > passed_before else losses + 1
            # If the server was never reached, the caller tries again later.
            is_over = losses >= MOST_LOSSES or time.monotonic() >= deadline
            if waiting is None or is_over:
                if waiting:
                    yield FolderReport(waiting[0], tally, error, complete=False)
                raise
            pause(pause_after(losses, FIRST_PAUSE, LONGEST_PAUSE))
    if refusals and len(refusals) == reports:
        raise refusals[-1]


def _pull_folder(
    session: MailSession,
    folder: str,
    target: IngestTarget,
    cursor_of: CursorOf,
    sync_states: SyncStates,
    tally: Tally,
) -> FolderReport:
    try:
        stream = session.open(folder, target.audience, cursor_of, sync_states)
    except ConnectionLostError:
        raise
    except Exception as error:
        if isinstance(error, TapestryError) or is_unforeseen(error):
            return FolderReport(folder, tally, error)
        raise
    try:
        complete = ingest_batches(stream, target, tally)
        reached = stream.resumed.messages + tally.passed
        return FolderReport(folder, tally, None, complete, reached, stream.total())
    except Exception as error:
        if isinstance(error, (RefusedError, UnavailableError)) or is_unforeseen(error):
            return FolderReport(folder, tally, error)
        raise
