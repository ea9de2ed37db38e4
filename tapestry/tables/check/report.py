"""The report of a check: counts of what was read, and each damage with its file and what to do."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from os import PathLike

BY_ITSELF = "it is mended by itself when it is next used, or by --repair"
BY_REPAIR = "stop Tapestry and run it again with --repair"
RESTORE = "restore a backup of the data directory"
"""What is to be done; of these only the last is beyond a repair."""


@dataclass(frozen=True, slots=True)
class Damage:
    """A file that is not as it was written, or does not agree with others.

    ``meaning`` says what it costs, ``remedy`` what to do; ``kind`` is the line it belongs to.
    """

    kind: str
    path: str
    reason: str
    meaning: str
    remedy: str


@dataclass(slots=True)
class Report:
    """The damages in the order found, and how many things of each kind were read."""

    damages: list[Damage] = field(default_factory=list)
    counts: dict[str, Counter[str]] = field(default_factory=dict)

    def read(self, kind: str, what: str, number: int = 1) -> None:
        """Count what was read."""
        self.counts.setdefault(kind, Counter())[what] += number

    def add(self, other: Report) -> None:
        """Add what another report has."""
        for kind, counts in other.counts.items():
            self.counts.setdefault(kind, Counter()).update(counts)
        self.damages += other.damages

    def damaged(
        self, kind: str, path: str | PathLike[str], reason: str, meaning: str, remedy: str
    ) -> None:
        """Add a damage."""
        self.counts.setdefault(kind, Counter())
        self.damages.append(Damage(kind, str(path), reason, meaning, remedy))
