"""Put the sample into the tables: mboxes that grow, through the real ingest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from filters.sample.letter import Letter, to_mbox
from filters.sample.story import Event
from tapestry.core.clock import DAY, wall_clock
from tapestry.core.message import Annotation
from tapestry.core.ports import Clock
from tapestry.ingest.command import ingest
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_annotations
from tapestry.tables.write.compact import compact

STEP = 2 * DAY
"""The events of this long are appended together: each append costs some 20 ms."""

MERGE = 12
"""Small files are merged after this many steps: to look through many takes longer."""


def load(events: Sequence[Event], end: int, mail: Path, tables: Tables, clock: Clock) -> int:
    """Let the events happen, ``STEP`` by ``STEP``; return how many messages were added.

    ``mail`` is the directory of the mboxes.  On fresh tables every row's ``ts`` is the end
    of its step, counted back from ``end``.  Loading again adds nothing.
    """
    mail.mkdir(parents=True, exist_ok=True)
    for old in mail.glob("*.mbox"):
        old.unlink()

    def step_end(event: Event) -> int:
        return end - (end - event.at) // STEP * STEP

    added = 0
    for step, (at, step_events) in enumerate(groupby(events, step_end), 1):
        added += deliver(step_events, mail, tables, clock, at)
        if step % MERGE == 0:
            compact(tables)
    compact(tables)
    return added


def deliver(
    events: Iterable[Event], mail: Path, tables: Tables, clock: Clock, at: int | None = None
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
        added += ingest(str(mbox), tables, clock, audience, _FreeIntake(), now=now).added
    append_annotations(tables, clock, annotations, now=now)
    return added


class _FreeIntake:
    """The port of an ingestion that forbids nothing: nobody else brings mail to the sample."""

    def is_ours(self, raw: bytes) -> bool:
        return False

    def is_forbidden(self) -> bool:
        return False

    def is_over(self) -> bool:
        return False

    def announce_import(self, name: str, ts: int) -> None:
        """Announce it to nobody."""

    def note_append(self, ts: int) -> None:
        """Leave it to the next tick."""
