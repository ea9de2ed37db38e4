"""Put the sample into the tables: mboxes that grow, through the real ingest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from filters.sample.letter import Letter, to_mbox
from filters.sample.story import Event
from tapestry.core.clock import DAY, wall_clock
from tapestry.core.message import Annotation
from tapestry.core.ports import Clock
from tapestry.ingest.command import ingest
from tapestry.tables.append import append_annotations
from tapestry.tables.compact import compact
from tapestry.tables.log import Tables

STEP = 2 * DAY
"""What is appended together: each append costs some 20 ms, and the reader waits."""

MERGE = 12
"""After how many steps small files are merged: to look through many takes longer."""

Progress = Callable[[int, int], None]
"""Told the number of messages added so far, and of all that will be."""


def load(
    events: Sequence[Event],
    end: int,
    mail: Path,
    tables: Tables,
    clock: Clock,
    progress: Progress | None = None,
) -> int:
    """Let the events happen, ``STEP`` by ``STEP``; return how many messages were added.

    ``mail`` is the directory of the mboxes.  On fresh tables every row's ``ts`` is the end
    of its step, counted back from ``end``.  Loading again adds nothing.
    """
    mail.mkdir(parents=True, exist_ok=True)
    for old in mail.glob("*.mbox"):
        old.unlink()
    total = sum(isinstance(event.what, Letter) for event in events)
    added = 0
    for step, (step_end, happened) in enumerate(_steps(events, end), 1):
        added += deliver(happened, mail, tables, clock, step_end)
        if step % MERGE == 0:
            compact(tables)
        if progress is not None:
            progress(added, total)
    compact(tables)
    return added


def deliver(
    events: Iterable[Event],
    mail: Path,
    tables: Tables,
    clock: Clock,
    at: int | None = None,
) -> int:
    """Append letters to their audience's mbox, ingest what is new, append annotations.

    It is done as if the wall clock showed ``at``.  Returns how many messages were added.
    """

    def now() -> int:
        return wall_clock() if at is None else at

    letters: dict[str, list[Letter]] = defaultdict(list)
    annotations: list[Annotation] = []
    for event in events:
        if isinstance(event.what, Letter):
            letters[event.what.audience].append(event.what)
        else:
            annotations.append(event.what)
    added = 0
    for audience, sent in sorted(letters.items()):
        mbox = mail / f"{audience.replace(':', '-')}.mbox"
        with mbox.open("ab") as file:
            file.writelines(to_mbox(letter) for letter in sent)
        added += ingest(str(mbox), tables, clock, audience, now=now).added
    append_annotations(tables, clock, annotations, now=now)
    return added


def _steps(events: Sequence[Event], end: int) -> Iterator[tuple[int, list[Event]]]:
    """Yield the events of each step with the instant at which it ends."""

    def step_end(event: Event) -> int:
        return end - (end - event.at) // STEP * STEP

    for at, happened in groupby(events, step_end):
        yield at, list(happened)
