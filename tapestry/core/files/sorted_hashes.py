"""Sorted 64-bit hashes, searched by bisection: the one index structure of rows and of filters.

    texts ─ hash_texts ─> hashes ─ sort ─> a sorted run (as in an LSM tree) ─ find ─> values

A run lies in memory or in a file mapped into it, and is immutable: new entries make a new run,
and runs are merged.  Two texts may share a hash, so that a caller checks what it finds.  A file
also has the first hash of each of its blocks, so that only a few blocks are read for a lookup,
and only these are verified.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tapestry.core.files.checksummed_file import BLOCK, ChecksummedFile, write_checksummed
from tapestry.core.files.damage import DamagedFileError

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

    def write(self, path: Path) -> None:
        """Write the run to a file, whole or not at all: hashes, first hashes, values."""
        hashes = self.hashes.astype("<u8")
        parts = (hashes, hashes[::_PER_BLOCK], self.values.astype("<i8"))
        write_checksummed(path, *(part.tobytes() for part in parts))

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
        values: Integers = self.values[_ranges(low, count)]
        return values


def contains(run: Hashes, wanted: Hashes) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return a mask of the hashes that are in a sorted run, which is not empty.

    >>> contains(np.array([3, 7], "u8"), np.array([9, 3], "u8")).tolist()
    [False, True]
    """
    positions = np.minimum(np.searchsorted(run, wanted), len(run) - 1)
    mask: np.ndarray[Any, np.dtype[np.bool_]] = run[positions] == wanted
    return mask


_PER_BLOCK = BLOCK // 8
"""Hashes in a block of a file."""


class MappedHashes:
    """A sorted run in a file, of ``count`` entries with ``width`` integers each.

    Raises FileNotFoundError, and DamagedFileError where the file is not as it was written; so
    does each lookup, for the blocks that it reads.
    """

    def __init__(self, path: str, count: int, width: int) -> None:
        self._file = ChecksummedFile(path)
        if len(self._file.payload) != run_bytes(count, width):
            raise DamagedFileError(path, "it has another number of entries than its name says")
        numbers = self._file.payload.view("<u8")
        begin, self._values_begin = count, count + -(-count // _PER_BLOCK)
        self._file.verify(8 * begin, 8 * self._values_begin)
        self._first = numbers[begin : self._values_begin]
        self._run = SortedHashes(
            numbers[:count], numbers[self._values_begin :].view("<i8").reshape(count, width)
        )
        self._width = width

    def find(self, wanted: Hashes) -> Integers:
        """Return the values of all entries that have one of the hashes, which are distinct."""
        return self.entries(wanted)[1]

    def entries(self, wanted: Hashes) -> tuple[Integers, Integers]:
        """Return of each entry with one of the hashes the number of this hash, and the values."""
        if not len(self._run.hashes):
            return np.empty(0, dtype=np.int64), self._run.values
        low = self._position(wanted, "left")
        count = self._position(wanted, "right") - low
        positions = _ranges(low, count)
        first = 8 * (self._values_begin + positions * self._width)
        last = first + 8 * self._width - 1
        self._file.verify_blocks(np.unique(np.concatenate((first, last)) // BLOCK).tolist())
        return np.repeat(np.arange(len(wanted)), count), self._run.values[positions]

    def contains(self, wanted: Hashes) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return a mask of the hashes that an entry has."""
        if not len(self._run.hashes):
            return np.zeros(len(wanted), dtype=bool)
        mask: np.ndarray[Any, np.dtype[np.bool_]]
        mask = self._position(wanted, "left") < self._position(wanted, "right")
        return mask

    def load(self) -> SortedHashes:
        """Return the whole run, verified."""
        self._file.read()
        return self._run

    def _position(self, wanted: Hashes, side: Literal["left", "right"]) -> Integers:
        """Return where each hash would be inserted: in the last block that begins before it."""
        blocks = np.maximum(np.searchsorted(self._first, wanted, side) - 1, 0)
        positions = np.empty(len(wanted), dtype=np.int64)
        for block in np.unique(blocks).tolist():
            self._file.verify_blocks((block,))
            begin = block * _PER_BLOCK
            hashes = self._run.hashes[begin : begin + _PER_BLOCK]
            of_block = blocks == block
            positions[of_block] = begin + np.searchsorted(hashes, wanted[of_block], side)
        return positions


def run_bytes(count: int, width: int) -> int:
    """Return the bytes of the payload of a run's file."""
    return 8 * (count * (1 + width) + -(-count // _PER_BLOCK))


def _ranges(low: Integers, count: Integers) -> Integers:
    """Return the positions from ``low`` to ``low + count - 1`` of every hash, in one array."""
    positions: Integers = np.arange(count.sum()) + np.repeat(low - (count.cumsum() - count), count)
    return positions
