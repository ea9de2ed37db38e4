"""Files with a checksum of each block: what is read of a large file is verified, and no more.

    payload │ CRC-32 of each 64 KiB of it │ length, CRC-32 of the checksums and the length, magic

The checksums are verified when the file is opened: four bytes for 64 KiB.  A block is verified
before its bytes are used for the first time.  So the cost follows what is read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from tapestry.core.files.damage import DamagedFileError
from tapestry.core.files.durable import whole_file

BLOCK = 64 * 1024
"""Bytes that one checksum is of."""

_MAGIC = b"TAPCRC01"
_END = struct.Struct("<QI8s")
_Bytes = np.ndarray[Any, np.dtype[np.uint8]]


def write_checksummed(path: Path, *parts: bytes, synced: bool = True) -> None:
    """Write parts as the payload of a file, all or none of them; it is on the disk afterwards.

    Without ``synced`` a power failure may damage it.
    """
    payload = b"".join(parts)
    blocks = range(0, len(payload), BLOCK)
    view = memoryview(payload)
    sums = struct.pack(f"<{len(blocks)}I", *(crc32(view[n : n + BLOCK]) for n in blocks))
    with whole_file(path, synced=synced) as file:
        file.write(payload)
        file.write(sums)
        file.write(_END.pack(len(payload), _sum_of(sums, len(payload)), _MAGIC))


def size_with_checksums(payload: int) -> int:
    """Return the bytes of the file that has so many bytes of payload."""
    return payload + 4 * -(-payload // BLOCK) + _END.size


def is_whole(content: bytes) -> bool:
    """Tell whether bytes end as those of such a file."""
    return content.endswith(_MAGIC)


class ChecksummedFile:
    """An open file, mapped into memory; any number of threads may read it.

    Raises FileNotFoundError, and DamagedFileError if its end is not as it was written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        content: _Bytes = np.empty(0, dtype=np.uint8)
        if Path(path).stat().st_size:
            content = np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))
        if len(content) < _END.size:
            raise DamagedFileError(path, "it was cut short")
        size, stored, magic = _END.unpack(content[-_END.size :].tobytes())
        if magic != _MAGIC or size_with_checksums(size) != len(content):
            raise DamagedFileError(path, "its end is not that of a whole file")
        sums = content[size : -_END.size].tobytes()
        if _sum_of(sums, size) != stored:
            raise DamagedFileError(path, "its checksums are not those that were written")
        self.payload = content[:size]
        """The bytes, not verified: call ``verify`` for what is read."""
        self._sums = np.frombuffer(sums, dtype="<u4")
        self._verified = np.zeros(len(self._sums), dtype=bool)

    def verify(self, begin: int, end: int) -> None:
        """Verify the blocks that hold the bytes from ``begin`` up to ``end``."""
        self.verify_blocks(range(begin // BLOCK, -(-end // BLOCK)))

    def verify_blocks(self, blocks: Iterable[int]) -> None:
        """Verify blocks, by number, that were not verified before; raises DamagedFileError."""
        for block in blocks:
            if not self._verified[block]:
                content = self.payload[block * BLOCK : (block + 1) * BLOCK]
                if crc32(content.data) != self._sums[block]:
                    raise DamagedFileError(
                        self.path, f"the checksum of bytes {block * BLOCK} and after does not agree"
                    )
                self._verified[block] = True

    def read(self) -> _Bytes:
        """Return the whole payload, verified."""
        self.verify(0, len(self.payload))
        return self.payload


def _sum_of(sums: bytes, size: int) -> int:
    return crc32(sums, crc32(struct.pack("<Q", size)))
