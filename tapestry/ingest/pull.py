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
from tapestry.ingest.account import Account, LineBrokenError, RefusedError
from tapestry.ingest.backoff import pause_after
from tapestry.ingest.ingest_batch import Intake, Tally, take_in
from tapestry.ingest.session import reached
from tapestry.ingest.stream import CursorOf, Line, Memory
from tapestry.ingest.unavailable import WithheldError

TRIES = 6
"""Times in a row that a line may break without bringing anything."""

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 30.0


@dataclass(frozen=True, slots=True)
class PlaceReport:
    """What came from a folder or group; ``error`` if it cannot be read, ``whole`` if all did.

    ``left`` counts the places that are still to be looked at.  A place over which the line
    broke is reported with that error, so that another can be first in turn the next time.
    """

    place: str
    tally: Tally = field(default_factory=Tally)
    error: TapestryError | None = None
    whole: bool = True
    left: int = 0


def pull_account(
    account: Account,
    wanted: Sequence[str],
    intake: Intake,
    memory: Memory,
    in_turn: Callable[[list[str]], list[str]] = list,
    tries: int = TRIES,
    pause: Callable[[float], None] = time.sleep,
) -> Iterator[PlaceReport]:
    """Take in what is new in each folder or group, in turn; yield a report when done with it.

    A line that breaks is reached again, at first after a second, then after ever more, and
    read on from the cursor.  Raises LineBrokenError when it broke ``tries`` times in a row
    and brought nothing, RefusedError where that would not help or where every place was
    refused; what was appended stays.
    """
    left: deque[str] | None = None
    tally = Tally()
    broken = 0
    refused: RefusedError | None = None
    let_in = False
    while True:
        before = tally.read
        try:
            with reached(account) as line:
                if left is None:
                    left = deque(in_turn(line.places(wanted)))
                # As they stand now: what this line brings moves no cursor but its own place's.
                taken = intake.cursors_by_now()
                while left:
                    report = _pull_place(line, left[0], intake, taken, memory, tally)
                    left.popleft()
                    report = replace(report, left=len(left))
                    tally, before, broken = Tally(), 0, 0
                    if isinstance(report.error, RefusedError):
                        refused = report.error
                    else:
                        let_in = True
                    yield report
                    if not report.whole or intake.stop():
                        break
            break
        except LineBrokenError as error:
            broken = 1 if tally.read > before else broken + 1
            # A server that could not be reached at all is for the caller to try later.
            if left is None or broken >= tries:
                if left:
                    yield PlaceReport(left[0], tally, error, whole=False)
                raise
            pause(pause_after(broken, FIRST_PAUSE, LONGEST_PAUSE))
    if refused is not None and not let_in:
        raise refused


def _pull_place(
    line: Line, place: str, intake: Intake, taken: CursorOf, memory: Memory, tally: Tally
) -> PlaceReport:
    try:
        source = line.open(place, intake.audience, taken, memory)
    except LineBrokenError:
        raise
    except TapestryError as error:
        return PlaceReport(place, tally, error)
    try:
        return PlaceReport(place, tally, whole=take_in(source, intake, tally))
    except (RefusedError, WithheldError) as error:
        return PlaceReport(place, tally, error)
