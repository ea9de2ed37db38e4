"""Sorted 64-bit hashes, searched by bisection: the one index structure of rows and of filters.

    texts ─ hash_texts ─> hashes ─ sort ─> a sorted run (as in an LSM tree) ─ find ─> values

A run lies in memory or in a file mapped into it, and is immutable: new entries make a new run,
and runs are merged.  Two texts may share a hash, so that a caller checks what it finds.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

Hashes = np.ndarray[Any, np.dtype[np.uint64]]
Integers = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]


def hash_texts(texts: Iterable[str]) -> Hashes:
    """Return a 64-bit hash of each text, the same on every machine."""
    digests = (blake2b(text.encode(errors="surrogatepass"), digest_size=8) for text in texts)
    return np.frombuffer(b"".join(digest.digest() for digest in digests), dtype="<u8")


@dataclass(frozen=True, slots=True)
class SortedHashes:
    """A sorted run: hashes in ascending order, and beside each an integer, or a row of some."""

    hashes: Hashes
    values: Integers

    @classmethod
    def sort(cls, hashes: Hashes, values: Integers) -> SortedHashes:
        """Return a run of entries that come in any order.

        >>> run = SortedHashes.sort(np.array([7, 3, 7], "u8"), np.array([0, 1, 2]))
        >>> run.hashes.tolist(), run.values.tolist()
        ([3, 7, 7], [1, 0, 2])
        """
        order = np.argsort(hashes, kind="stable")
        return cls(hashes[order], values[order])

    @classmethod
    def open(cls, path: str, count: int, width: int) -> SortedHashes:
        """Map a file of ``count`` entries into memory; raises FileNotFoundError.

        The values are rows of ``width`` integers.
        """
        if not count:
            return cls(np.empty(0, dtype="<u8"), np.empty((0, width), dtype="<i8"))
        numbers = np.asarray(np.memmap(path, dtype="<u8", mode="r", shape=((1 + width) * count,)))
        return cls(numbers[:count], numbers[count:].view("<i8").reshape(count, width))

    def write(self, path: Path) -> None:
        """Write the run to a file, whole or not at all: the hashes, then the values."""
        write_whole(path, self.hashes.astype("<u8"), self.values.astype("<i8"))

    def merge(self, newer: SortedHashes) -> SortedHashes:
        """Return a run of the entries of both runs."""
        hashes = np.concatenate((self.hashes, newer.hashes))
        return SortedHashes.sort(hashes, np.concatenate((self.values, newer.values)))

    def find(self, wanted: Hashes) -> Integers:
        """Return the values of all entries that have one of the hashes, which are distinct.

        >>> run = SortedHashes.sort(np.array([7, 3, 7], "u8"), np.array([0, 1, 2]))
        >>> run.find(np.array([5, 7], "u8")).tolist()
        [0, 2]
        """
        low = np.searchsorted(self.hashes, wanted, "left")
        count = np.searchsorted(self.hashes, wanted, "right") - low
        # The positions from low to low + count - 1 of every hash, in one array.
        positions = np.arange(count.sum()) + np.repeat(low - (count.cumsum() - count), count)
        values: Integers = self.values[positions]
        return values


def contains(run: Hashes, wanted: Hashes) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return a mask of the hashes that are in a sorted run, which is not empty.

    >>> contains(np.array([3, 7], "u8"), np.array([9, 3], "u8")).tolist()
    [False, True]
    """
    positions = np.minimum(np.searchsorted(run, wanted), len(run) - 1)
    mask: np.ndarray[Any, np.dtype[np.bool_]] = run[positions] == wanted
    return mask


def write_whole(path: Path, *arrays: np.ndarray[Any, Any]) -> None:
    """Write arrays to a file, all or none of them: the file is renamed when it is synced."""
    unfinished = path.with_suffix(".new")
    with unfinished.open("wb") as file:
        for array in arrays:
            file.write(array.tobytes())
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
