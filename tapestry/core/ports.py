"""Ports of the rooms to the application, as Protocols; ``filters/runs/store`` implements them.

Those of an ingestion, ``Intake`` and ``SyncStates``, are implemented in ``filters/sources``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from tapestry.core.clock import BEGINNING
from tapestry.core.completeness import Completeness


class LockedClock(Protocol):
    """The clock while this process, and no other, holds its lock."""

    @property
    def last(self) -> int:
        """The newest instant that was ever stamped or run to, as stored."""

    def confirm(self) -> None:
        """Raise an error if the lock was lost meanwhile."""

    def advance(self, to: int) -> None:
        """Store a newer instant; it stays if the lock is released without an error."""


class Clock(Protocol):
    """The one clock of an installation."""

    def lock(self) -> AbstractContextManager[LockedClock]:
        """Take the lock; wait for it if another process holds it."""


@dataclass(frozen=True, slots=True)
class DueFilter:
    """A filter whose window (``since``, ``until``] is to be run; without ``until``, to the present.

    ``start`` is T0 of DESIGN.md: what matched at T0 is not delivered; None takes existing
    mail.  ``revision`` counts changes of the text: a window is committed only for the text it was
    run with.  ``pending_window`` is the key of the window that an older revision still has to run,
    if this is one.  ``live``: messages leave when they no longer match.  ``explanation`` is given
    with every match; if it is empty, the disjunct that was met is described instead.  ``proven``:
    its last run by itself took little time.  ``set_aside``: its last run raised an error that
    nobody foresaw.  ``completeness``: it waits for its sources, and this is its clock.
    What matched up to ``existing_until`` was there before the filter; None past such windows.
    """

    filter_id: int
    text: str
    owner: str
    addresses: tuple[str, ...]
    audiences: tuple[str, ...]
    since: int
    start: int | None
    revision: int = 0
    until: int | None = None
    pending_window: int | None = None
    live: bool = False
    explanation: str = ""
    proven: bool = False
    set_aside: bool = False
    completeness: Completeness | None = None
    existing_until: int | None = None

    def end(self, until: int) -> int:
        """Return where its window ends in a run up to ``until``."""
        return until if self.until is None else self.until

    @property
    def is_live_beginning(self) -> bool:
        """Tell whether its window is a live filter's first, whose changes are its whole answer."""
        return self.live and self.since == (BEGINNING if self.start is None else self.start)


@dataclass(frozen=True, slots=True)
class Match:
    """A message that a filter matched: the first instant at which it did, and why.

    ``disjunct`` counts from 0 in the filter's disjunctive normal form; ``explanation`` describes
    it.  ``evidence`` are the keys of the rows that made it true, msgids and annids, in the order
    of the disjunct's variables.
    """

    filter_id: int
    msgid: str
    audience: str
    matched_at: int
    disjunct: int
    evidence: tuple[str, ...]
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """An entry of a live filter's changelog: a message enters, leaves or matches otherwise.

    A "delete" is a retraction.  The fields after ``at`` are those of a Match from that instant on.
    """

    filter_id: int
    msgid: str
    op: Literal["insert", "delete", "update"]
    at: int
    audience: str = ""
    disjunct: int = 0
    evidence: tuple[str, ...] = ()
    explanation: str = ""


class FilterStore(Protocol):
    """Filters, their windows and their matches, in the relational database.

    A filter has a window of its own, or is enrolled in the shared window.  Of the enrolled
    filters, only those are evaluated that something new may concern.  The shared window has parts,
    each with a watermark and filters of its own; a store runs one ``part`` of it.
    """

    part: int

    @property
    def divided_by(self) -> int:
        """Over how many parts filters are divided as they are enrolled."""

    def parts(self) -> Sequence[int]:
        """Return the parts that are run, 0 first: more, while others still have filters."""

    def of_part(self, part: int) -> FilterStore:
        """Return the store that runs another part of the shared window."""

    def due(self, now: int) -> Sequence[DueFilter]:
        """Return every filter with a window of its own that should be run at ``now``."""

    def known(self, pairs: Collection[tuple[int, str]]) -> set[tuple[int, str]]:
        """Return those of the (filter_id, msgid) pairs that are stored as matches already."""

    def commit(
        self,
        filters: Sequence[DueFilter],
        until: int,
        matches: Sequence[Match],
        changes: Sequence[Change] = (),
    ) -> bool:
        """Store matches and advance every filter's ``since`` to ``until``, in one transaction.

        ``changes`` are those of live filters, in order of time.  A pending window is deleted
        instead; one that ends after ``until`` begins there.  Return False, and store nothing, if
        any filter's window no longer begins at its ``since``, or its text has changed.
        """

    def fail(self, failed: DueFilter, message: str) -> None:
        """Store that a filter cannot be run, and why, for its owner to see."""

    def set_aside(self, failed: DueFilter, error: Exception) -> None:
        """Store that an error which nobody foresaw keeps a filter from being run.

        Its window stays, and is due again later; a commit of it ends that.
        """

    def postpone(self, failed: DueFilter, until: int, error: Exception) -> None:
        """Set only the beginning of a filter's window aside, up to ``until``: the rest is due.

        It is a pending window then.  Do nothing if the window no longer begins at its ``since``.
        """

    def expel(self, errors: Mapping[int, Exception]) -> None:
        """Detach filters with which the shared window failed; they are held out of it a while."""

    def held_out(self, filter_ids: Collection[int]) -> set[int]:
        """Return those of the filters that may not be enrolled now."""

    def work_around(self, what: str, error: Exception) -> None:
        """Store that a part of the index failed, and what it would have chosen was evaluated."""

    def prove(self, filter_ids: Collection[int], *, proven: bool) -> None:
        """Store whether a run of these filters took little time."""

    def charge(self, filters: Sequence[DueFilter], seconds: float) -> None:
        """Store that a run of filters over their own windows took so many seconds."""

    def shared_since(self) -> int | None:
        """Return where the last window of its part ended; None if there never was one."""

    def latest_since(self) -> int | None:
        """Return where the part that is furthest on ended; None if there never was a window."""

    def enrolled(self, filter_ids: Collection[int]) -> Sequence[DueFilter]:
        """Return those of the filters that are enrolled in its part, each with its ``since``."""

    def commit_shared(
        self,
        since: int | None,
        until: int,
        filters: Sequence[DueFilter],
        matches: Sequence[Match],
    ) -> bool:
        """Store what filters of its part matched, and advance the part, in one transaction.

        ``filters`` are those with a match, as ``enrolled`` returned them.  What was matched by one
        that has been changed, detached, paused or deleted meanwhile is not stored: its own window
        begins at ``since``.  Return False, and store nothing, if the shared window no longer begins
        there, or filters were enrolled since ``shared_since`` was asked last.
        """

    def enroll(self, filters: Sequence[DueFilter], until: int) -> None:
        """Enroll filters that were run to ``until`` in its part, if that begins there too.

        Only those that still have the revision given, are active, not live, and have neither
        an error nor a pending window; the others keep windows of their own.
        """

    def revisions(self, filter_ids: Collection[int]) -> Mapping[int, int]:
        """Return the present revision of each of the filters that exists."""

    def detach(self, filter_ids: Collection[int] | None) -> None:
        """Give filters, or all of its part, windows of their own, from where the shared ended."""


class Intake(Protocol):
    """Decisions of the application as mail is taken in, and what it is told of that."""

    def is_ours(self, raw: bytes) -> bool:
        """Tell whether this site sent a message: it is passed over, so that no mail loop begins."""

    def is_forbidden(self) -> bool:
        """Tell whether a batch is discarded and its cursor stays; asked under the clock's lock.

        It may raise a TapestryError that says why.
        """

    def is_over(self) -> bool:
        """Tell whether the rest is left for another time; asked after each append."""

    def announce_import(self, name: str, ts: int) -> None:
        """Take the name of a stream, and the ``ts`` of messages of it that were there before.

        Called under the clock's lock, before they are visible.
        """

    def note_append(self, ts: int) -> None:
        """Take the ``ts`` of an append; the next one waits for the return."""


class SyncStates(Protocol):
    """The stored sync states of the folders of one account and audience."""

    @property
    def durable(self) -> bool:
        """Tell whether the states outlive the process, so that a later pull can go by them."""

    def load(self, folder: str) -> dict[str, Any]:
        """Return the state of a folder, empty if none is stored."""

    def save(self, folder: str, state: dict[str, Any]) -> None:
        """Replace the state of a folder, at once."""
