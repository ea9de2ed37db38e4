"""What a server lists but will not hand over: passed by, and asked for again later.

Some answer NO, some hang up on whoever asks for a message that they cannot read.  Without
this, one such message would hold up all that come after it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from tapestry.ingest.backoff import pause_after
from tapestry.ingest.source import Memory

BREAKS = 3
"""Times that the line may break over one message before it is put aside."""

ASK_AGAIN, LONGEST = 60.0, 24 * 3600.0
MOST = 1000


@dataclass(slots=True)
class Withheld:
    """The withheld messages of a folder or group, by UID or article number.

    ``numbering`` says for how long the numbers mean the same messages.  What is written down
    is remembered at once, for the line may break at any time: ``trouble``, the first and last
    number that were asked for when it did, and how often it did over that one alone;
    ``missing``, how often each was asked for, and when it will be again.
    """

    memory: Memory
    place: str
    numbering: int
    now: Callable[[], float] = time.time
    trouble: list[int] | None = field(default=None, init=False)
    missing: dict[str, list[float]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        before = self.memory.recall(self.place).get("withheld", {})
        if before.get("numbering") == self.numbering:
            self.trouble, self.missing = before["trouble"], dict(before["missing"])

    def touches(self, first: int, last: int) -> bool:
        """Tell whether the line broke when some of these were asked for."""
        return self.trouble is not None and self.trouble[0] <= last and first <= self.trouble[1]

    def is_hopeless(self, number: int) -> bool:
        """Tell whether the line broke too often over this one."""
        trouble = self.trouble
        return trouble is not None and trouble[:2] == [number] * 2 and trouble[2] >= BREAKS

    def broke(self, first: int, last: int) -> None:
        """Write down that the line broke when these were asked for."""
        again = self.trouble[2] if self.trouble and self.trouble[:2] == [first, last] else 0
        self.trouble = [first, last, again + 1 if first == last else 0]
        self._remember()

    def put_aside(self, numbers: Iterable[int]) -> None:
        """Pass these by, to be asked for again later."""
        aside = {str(number): [1, self.now() + ASK_AGAIN] for number in numbers}
        if not aside:
            return
        self.missing.update(aside)
        for oldest in list(self.missing)[:-MOST]:
            del self.missing[oldest]
        self.trouble = None
        self._remember()

    def due(self) -> list[int]:
        """Return those that are to be asked for again by now."""
        now = self.now()
        return [int(number) for number, (_times, at) in self.missing.items() if at <= now]

    def asking(self, number: int) -> None:
        """Write down that this is about to be asked for again; the next time is later still."""
        times = int(self.missing[str(number)][0]) + 1
        self.missing[str(number)] = [times, self.now() + pause_after(times, ASK_AGAIN, LONGEST)]
        self._remember()

    def settle(self, number: int) -> None:
        """Cross one off: it came, or it is not there any more."""
        del self.missing[str(number)]
        self._remember()

    def all_is_well(self) -> None:
        """Write down that the line did not break again."""
        if self.trouble is not None:
            self.trouble = None
            self._remember()

    def _remember(self) -> None:
        what: dict[str, Any] = {
            "numbering": self.numbering,
            "trouble": self.trouble,
            "missing": self.missing,
        }
        self.memory.remember(self.place, self.memory.recall(self.place) | {"withheld": what})
