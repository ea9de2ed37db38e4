"""What the rooms ask of the application, as Protocols; ``filters/store`` implements them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol


class LockedClock(Protocol):
    """The clock while its lock is held by this process and nobody else."""

    @property
    def last(self) -> int:
        """The newest instant that was ever stamped or run to, as stored."""

    def advance(self, to: int) -> None:
        """Store a newer instant; it lasts once the lock is released without an error."""


class Clock(Protocol):
    """The one clock of an installation."""

    def lock(self) -> AbstractContextManager[LockedClock]:
        """Take the lock; wait for it if another process holds it."""


@dataclass(frozen=True, slots=True)
class DueFilter:
    """A filter that is due: who may see what, and where its windows stand.

    ``since`` ends its last window.  ``start`` is T0 of DESIGN section 1: what matched at
    T0 is not delivered; None takes existing mail.  ``revision`` counts changes of the text:
    a window is committed only for the text it was run with.  ``until`` ends the window where
    that is not the present: a filter was changed then, and ``rest`` names what is left to run
    of its older text; or it is run in parts.  ``live``: messages leave when they no longer match.
    ``reason`` is said of every match; where it is empty, the words of the disjunct that was met.
    """

    id: int
    text: str
    owner: str
    addresses: tuple[str, ...]
    audiences: tuple[str, ...]
    since: int
    start: int | None
    revision: int = 0
    until: int | None = None
    rest: int | None = None
    live: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """A message a filter matched: the first instant it did, and why.

    ``disjunct`` counts from 0 in the filter's normal form, and ``reason`` says it in words;
    ``evidence`` names the rows that made it true, msgids and annids, in the order of the
    disjunct's variables.
    """

    filter: int
    msgid: str
    audience: str
    matched_at: int
    disjunct: int
    evidence: tuple[str, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """A message enters, leaves or matches otherwise the answer of a live filter.

    What follows ``at`` says how it matches from that instant on, as of a Match.
    """

    filter: int
    msgid: str
    op: Literal["insert", "delete", "update"]
    at: int
    audience: str = ""
    disjunct: int = 0
    evidence: tuple[str, ...] = ()
    reason: str = ""


class FilterStore(Protocol):
    """Filters, their windows and their matches, in the relational database.

    Each stands apart, with a window of its own, or is joined: then it shares one window with
    all that are, and only those that something new concerns need be looked at.
    """

    def due(self, now: int) -> Sequence[DueFilter]:
        """Return every filter that stands apart whose window should be run at ``now``."""

    def known(self, pairs: Collection[tuple[int, str]]) -> set[tuple[int, str]]:
        """Return those of the (filter, msgid) pairs that are stored as matches already."""

    def commit(
        self,
        filters: Sequence[DueFilter],
        until: int,
        matches: Sequence[Match],
        changes: Sequence[Change] = (),
    ) -> bool:
        """Store matches and advance every filter's ``since`` to ``until``, in one transaction.

        ``changes`` are those of live filters, in the order in which they happened.  A
        ``rest`` is done with instead, or begins there if it ends later.  Return False, and store
        nothing, if any filter's window is no longer at its ``since``, or its text has changed.
        """

    def fail(self, failed: DueFilter, message: str) -> None:
        """Remember that a filter could not be run, for its owner to see."""

    def joint_since(self) -> int | None:
        """Return the end of the last joint window; None if there never was one."""

    def joined(self, ids: Collection[int]) -> Sequence[DueFilter]:
        """Return those of the filters that are joined now, as due from the joint since."""

    def commit_joint(
        self,
        since: int | None,
        until: int,
        filters: Sequence[DueFilter],
        matches: Sequence[Match],
    ) -> bool:
        """Store what joined filters found, and the joint since as ``until``, in one transaction.

        ``filters`` are those that found something, as ``joined`` returned them.  Return False,
        and store nothing, if the joint since is no longer ``since``, or if any of them has been
        changed, parted, paused or deleted.
        """

    def join(self, filters: Sequence[DueFilter], until: int) -> None:
        """Let filters that were run to ``until`` share the joint window from there on.

        Those alone that can: of the revision given, active, without an error or a rest, and
        not live; and none if the joint window does not end at ``until``.
        """

    def revisions(self, ids: Collection[int]) -> Mapping[int, int]:
        """Return the present revision of those of the filters that are there."""

    def part(self, ids: Collection[int] | None) -> None:
        """Let filters, or all, leave the joint run where it stands: they are apart from there."""
