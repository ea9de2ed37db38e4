"""What a server lists but will not hand over: passed by, and asked for again later.

Some answer NO, some hang up on whoever asks for a message that they cannot read.  Without
this, one such message would hold up all that come after it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tapestry.core.errors import TapestryError
from tapestry.ingest.account import ConnectionLostError
from tapestry.ingest.backoff import pause_after
from tapestry.ingest.stream import InMemorySyncStates, SyncStates
from tapestry.tables.append import Cursor

BREAKS = 3
"""Times that the line may break over one message before it is put aside."""

ASK_AGAIN, LONGEST = 60.0, 24 * 3600.0

MOST = 1000
"""So many of a folder or group can be put aside; with more, one waits for those."""

IN_A_ROW = 20
"""When so many follow each other, it is not about them: the server has a bad day."""


class UnavailableError(TapestryError):
    """Some messages could not be had, and nobody will remember to ask for them again."""


@dataclass(frozen=True, slots=True)
class FetchResult:
    """What a server said when it was asked for a message.

    ``raw`` is None if it has expired or was expunged, or if it is ``unavailable``; the answer
    may then be ``about_all`` messages, and not just this one.
    """

    number: int
    raw: bytes | None
    unavailable: bool = False
    about_all: Exception | None = None


def hold_server_faults(results: Iterable[FetchResult], trusted: bool) -> Iterator[FetchResult]:
    """Yield the answers, those that may be about all messages once another message came.

    If none comes, what was said is raised.  Of one that is asked for ``trusted`` there is
    nothing to be learnt, so it is yielded as it is.
    """
    held: list[FetchResult] = []
    came = trusted
    for result in results:
        came = came or result.raw is not None
        if came or not (held or result.about_all):
            yield from held
            yield result
            held = []
        else:
            held.append(result)
            if sum(each.unavailable for each in held) >= IN_A_ROW:
                break
    if held and held[0].about_all:
        raise held[0].about_all


def has_unavailable(remembered: dict[str, Any]) -> bool:
    """Tell whether there is something to ask for again, by what is remembered of a place."""
    return bool(remembered.get("withheld", {}).get("missing"))


@dataclass(slots=True)
class UnavailableMessages:
    """The withheld messages of a folder or group, by UID or article number.

    ``numbering`` says for how long the numbers mean the same messages.  What is written down
    is remembered at once, for the line may break at any time: ``trouble``, the first and last
    number that were asked for when it did, and how often it did over that one alone;
    ``missing``, how often each was asked for, and when it will be again; ``in_a_row``, how
    many were put aside since a message came or one was asked for again.

    A memory that ends with the command cannot have them asked for again.  There the cursor
    stays before the first of them, and ``through`` says how far this command came.
    """

    sync_states: SyncStates
    folder: str
    numbering: int
    now: Callable[[], float] = time.time
    trouble: list[int] | None = field(default=None, init=False)
    missing: dict[str, list[float]] = field(default_factory=dict, init=False)
    in_a_row: int = field(default=0, init=False)
    through: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        before = self.sync_states.load(self.folder).get("withheld", {})
        if before.get("numbering") == self.numbering:
            self.trouble, self.missing = before["trouble"], dict(before["missing"])
            self.in_a_row = before.get("in_a_row", 0)
            self.through = before.get("through", 0)

    def __contains__(self, number: int) -> bool:
        """Tell whether this one was put aside."""
        return str(number) in self.missing

    @property
    def is_full(self) -> bool:
        """Whether no other can be put aside before one of them comes."""
        return len(self.missing) >= MOST or self.in_a_row >= IN_A_ROW

    def broke_near(self, number: int) -> bool:
        """Tell whether the line broke when this was asked for, alone or with others."""
        return self.trouble is not None and self.trouble[0] <= number <= self.trouble[1]

    def is_hopeless(self, number: int) -> bool:
        """Tell whether the line broke too often over this one."""
        trouble = self.trouble
        return trouble is not None and trouble[:2] == [number] * 2 and trouble[2] >= BREAKS

    def broke(self, first: int, last: int) -> None:
        """Write down that the line broke when these were asked for."""
        again = self.trouble[2] if self.trouble and self.trouble[:2] == [first, last] else 0
        self.trouble = [first, last, again + 1 if first == last else 0]
        self._remember()

    def note(self, result: FetchResult) -> None:
        """Write down that a message came, or put it aside if it is withheld.

        Raises ConnectionLostError, with nothing put aside, where that would be too many.
        """
        if result.unavailable:
            if self.is_full:
                raise ConnectionLostError(
                    f"Too much of {self.folder} cannot be had: {len(self.missing)} messages, "
                    f"{self.in_a_row} of them in a row.",
                    hint="It is tried again later, from there; nothing is left out.",
                )
            self.missing[str(result.number)] = [1, self.now() + ASK_AGAIN]
            self.in_a_row += 1
            self.trouble = None
            self._remember()
        elif result.raw is not None and self.in_a_row:
            self.in_a_row = 0
            self._remember()

    def due(self) -> list[int]:
        """Return those that are to be asked for again by now."""
        now = self.now()
        return [int(number) for number, (_times, at) in self.missing.items() if at <= now]

    def asking(self, number: int) -> None:
        """Write down that this is about to be asked for again; the next time is later still."""
        times = int(self.missing[str(number)][0]) + 1
        self.missing[str(number)] = [times, self.now() + pause_after(times, ASK_AGAIN, LONGEST)]
        self.in_a_row = 0
        self._remember()

    def settle(self, number: int) -> None:
        """Cross one off: it came, or it is not there any more."""
        del self.missing[str(number)]
        self._remember()

    def cursor(self, origin: str, number: int) -> Cursor | None:
        """Return the cursor once all up to this number was asked for, None if it must stay."""
        if not self.missing or not isinstance(self.sync_states, InMemorySyncStates):
            return Cursor(origin, number)
        self.through = number
        self._remember()
        return None

    def all_is_well(self) -> None:
        """Write down that the line did not break again."""
        if self.trouble is not None:
            self.trouble = None
            self._remember()

    def must_be_empty(self) -> None:
        """Raise WithheldError if some are missing and the memory of that ends here."""
        if self.missing and isinstance(self.sync_states, InMemorySyncStates):
            raise UnavailableError(
                f"The server does not hand over everything in {self.folder}: of what it lists, "
                f"{len(self.missing)} could not be had.",
                hint="Run the same again: they are asked for again, and nothing comes twice.",
            )

    def _remember(self) -> None:
        what: dict[str, Any] = {
            "numbering": self.numbering,
            "trouble": self.trouble,
            "missing": self.missing,
            "in_a_row": self.in_a_row,
            "through": self.through,
        }
        self.sync_states.save(self.folder, self.sync_states.load(self.folder) | {"withheld": what})
