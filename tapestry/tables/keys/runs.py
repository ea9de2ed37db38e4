"""Sorted runs of hashes in the files of a directory, merged as in an LSM tree.

    new entries ─> LOW_HIGH_COUNT.sorted ─ merged with the run before it while that is not twice
                                           as long ─> a logarithmic number of runs

A run is immutable: what is merged is written as another, and then the parts are deleted.  Readers
that meet a run that is gone look again.  Damage is noticed as a run is read: what is derived is
deleted and counts as missing, what is mirrored is written again (tapestry.core.files.mirror).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

from tapestry.core.clock import BEGINNING
from tapestry.core.files.checksummed_file import size_with_checksums
from tapestry.core.files.damage import DamagedFileError, mended
from tapestry.core.files.mirror import mend, write_mirror
from tapestry.core.files.sorted_hashes import MappedHashes, SortedHashes, run_bytes

SUFFIX = ".sorted"
"""The end of the names of the files."""

LONGEST = 4_000_000
"""Entries of the largest merged run: it bounds the memory of a merge."""

_ATTEMPTS = 20

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SortedRun:
    """The entries of all with low < position <= high, in one file of ``count`` entries.

    ``stamp`` is when the file was changed: it is verified again if that is not when it was made.
    """

    low: int
    high: int
    count: int
    path: str
    stamp: int


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs in a directory, of entries with ``width`` integers each.

    They are derived, and only those count of which each begins where the one before ends; or they
    are mirrored, and all count.
    """

    directory: Path
    width: int
    is_mirrored: bool = False

    def listed(self) -> list[SortedRun]:
        """Return the runs that count, the oldest first."""
        if self.is_mirrored:
            return sorted(self._stored(), key=attrgetter("low", "high"))
        starting: dict[int, SortedRun] = {}
        for run in self._stored():
            if run.low not in starting or run.high > starting[run.low].high:
                starting[run.low] = run
        chain: list[SortedRun] = []
        while (low := end_of(chain)) in starting:
            chain.append(starting[low])
        return chain

    def read(self, find: Callable[[MappedHashes], T]) -> tuple[list[T], int] | None:
        """Return what is found in each run, and where they end; None if they change all the time.

        Raises DamagedFileError if a mirrored run and its mirror are damaged.
        """
        for _ in range(_ATTEMPTS):
            runs = self.listed()
            try:
                results = [find(self._open(run)) for run in runs]
            except FileNotFoundError:
                continue  # merged meanwhile: its entries are in another run
            except DamagedFileError as error:
                self._mend(error)
                continue
            # A merge may have been listed half-way: then a part of a chain is missing at its end.
            if not self.is_mirrored or self.listed() == runs:
                return results, end_of(runs)
        return None

    def add(self, runs: list[SortedRun], high: int, entries: SortedHashes) -> list[SortedRun]:
        """Write a run after those listed, up to ``high``, and merge the newest.

        Return those that were merged: they are replaced in the list, and stay on the disk.  Raises
        DamagedFileError if one that was to be merged is damaged.
        """
        replaced: list[SortedRun] = []
        runs.append(self._write(end_of(runs), high, entries))
        while len(runs) > 1:
            older, newer = runs[-2:]
            if older.count > 2 * newer.count or older.count + newer.count > LONGEST:
                break
            try:
                merged = self._open(older).load().merge(self._open(newer).load())
            except DamagedFileError as error:
                self._mend(error)
                if self.is_mirrored:
                    continue
                raise
            runs[-2:] = [self._write(older.low, newer.high, merged)]
            replaced += older, newer
        return replaced

    def keep(self, runs: Sequence[SortedRun]) -> None:
        """Delete all files but those of some runs, which are derived."""
        names = {run.path for run in runs}
        for path in self.directory.iterdir():
            if str(path) not in names:
                path.unlink(missing_ok=True)

    def _open(self, run: SortedRun) -> MappedHashes:
        return _opened(run.path, run.count, self.width, run.stamp)

    def _write(self, low: int, high: int, entries: SortedHashes) -> SortedRun:
        count = len(entries.hashes)
        path = self.directory / f"{low}_{high}_{count}{SUFFIX}"
        entries.write(path)
        if self.is_mirrored:
            write_mirror(path, path.read_bytes(), synced=True)
        return SortedRun(low, high, count, str(path), path.stat().st_mtime_ns)

    def _stored(self) -> Iterator[SortedRun]:
        """Yield the runs in the directory; those that were cut short are mended."""
        try:
            entries = [entry for entry in os.scandir(self.directory) if entry.name.endswith(SUFFIX)]
        except FileNotFoundError:
            return
        for entry in entries:
            low, high, count = map(int, entry.name.removesuffix(SUFFIX).split("_"))
            with suppress(FileNotFoundError):  # merged meanwhile
                status = entry.stat()
                if status.st_size != size_with_checksums(run_bytes(count, self.width)):
                    reason = "it has another size than its name says"
                    self._mend(DamagedFileError(entry.path, reason))
                    status = Path(entry.path).stat()
                yield SortedRun(low, high, count, entry.path, status.st_mtime_ns)

    def _mend(self, error: DamagedFileError) -> None:
        _opened.cache_clear()
        if self.is_mirrored:
            mend(error)
        else:
            Path(error.path).unlink(missing_ok=True)
            mended(error.path, error.reason, "deleted; the index is made anew")


def end_of(runs: Sequence[SortedRun]) -> int:
    """Return the position up to which runs go, BEGINNING if there are none."""
    return runs[-1].high if runs else BEGINNING


@lru_cache(maxsize=64)
def _opened(path: str, count: int, width: int, stamp: int) -> MappedHashes:
    return MappedHashes(path, count, width)
