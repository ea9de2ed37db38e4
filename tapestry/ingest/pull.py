"""Pull the folders or groups of an account, one after the other, over one line.

reached ─> places ─> each: items ─ take_in ─> rows and cursor ─> report
   ^                                  │
   └────────── pause ─────────────────┘ line broken
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from tapestry.core.errors import TapestryError
from tapestry.ingest.account import Account, ConnectionLostError, RefusedError
from tapestry.ingest.backoff import pause_after
from tapestry.ingest.ingest_batch import IngestTarget, Tally, ingest_batches
from tapestry.ingest.session import open_session
from tapestry.ingest.stream import CursorOf, MailSession, SyncStates
from tapestry.ingest.unavailable import UnavailableError

TRIES = 6
"""Times in a row that a line may break without bringing anything."""

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 30.0


@dataclass(frozen=True, slots=True)
class FolderReport:
    """What came from a folder or group; ``error`` if it cannot be read, ``complete`` if all did.

    ``remaining`` counts the places that are still to be looked at.  A place over which the line
    broke is reported with that error, so that another can be first in turn the next time.
    """

    folder: str
    tally: Tally = field(default_factory=Tally)
    error: TapestryError | None = None
    complete: bool = True
    remaining: int = 0


def pull_account(
    account: Account,
    patterns: Sequence[str],
    target: IngestTarget,
    sync_states: SyncStates,
    order: Callable[[list[str]], list[str]] = list,
    max_breaks: int = TRIES,
    pause: Callable[[float], None] = time.sleep,
) -> Iterator[FolderReport]:
    """Take in what is new in each folder or group, in turn; yield a report when done with it.

    A line that breaks is reached again, at first after a second, then after ever more, and
    read on from the cursor.  Raises ConnectionLostError when it broke ``max_breaks`` times in a row
    and brought nothing, RefusedError where that would not help or where every place was
    refused; what was appended stays.
    """
    remaining: deque[str] | None = None
    tally = Tally()
    breaks = 0
    refused: RefusedError | None = None
    admitted = False
    while True:
        before = tally.read
        try:
            with open_session(account) as session:
                if remaining is None:
                    remaining = deque(order(session.expand(patterns)))
                # As they stand now: what this line brings moves no cursor but its own place's.
                cursor_of = target.cursors_by_now()
                while remaining:
                    report = _pull_folder(
                        session, remaining[0], target, cursor_of, sync_states, tally
                    )
                    remaining.popleft()
                    report = replace(report, remaining=len(remaining))
                    tally, before, breaks = Tally(), 0, 0
                    if isinstance(report.error, RefusedError):
                        refused = report.error
                    else:
                        admitted = True
                    yield report
                    if not report.complete or target.stop():
                        break
            break
        except ConnectionLostError as error:
            breaks = 1 if tally.read > before else breaks + 1
            # A server that could not be reached at all is for the caller to try later.
            if remaining is None or breaks >= max_breaks:
                if remaining:
                    yield FolderReport(remaining[0], tally, error, complete=False)
                raise
            pause(pause_after(breaks, FIRST_PAUSE, LONGEST_PAUSE))
    if refused is not None and not admitted:
        raise refused


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
    except TapestryError as error:
        return FolderReport(folder, tally, error)
    try:
        return FolderReport(folder, tally, complete=ingest_batches(stream, target, tally))
    except (RefusedError, UnavailableError) as error:
        return FolderReport(folder, tally, error)
