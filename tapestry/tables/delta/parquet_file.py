"""Parquet files with checksums: page checksums, one of the footer, and one of the whole file.

    rows ─> draft ─ fsync ─> part-UUID-CHECKSUMS.zstd.parquet, where CHECKSUMS are two CRC-32:
                             of all bytes, and of the footer (its length and magic included)

The footer is verified when a file is opened, and the pages as they are read.  A small file, as
the newest are, is verified as a whole.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4
from zlib import crc32

import pyarrow as pa
import pyarrow.parquet as pq

from tapestry.core.files.damage import DamagedFileError
from tapestry.core.files.durable import sync_directory, sync_file

WHOLE = 256 * 1024
"""Bytes up to which a file is verified as a whole when it is opened."""

_CHECKSUMS = re.compile(r"-([0-9a-f]{8})([0-9a-f]{8})\.zstd\.parquet$")
_CHUNK = 1 << 20


class NewParquetFile:
    """A file that is being written; ``path`` is where it is, ``writer`` takes its rows."""

    def __init__(self, path: Path, writer: pq.ParquetWriter) -> None:
        self.path = path
        self.writer = writer


@contextmanager
def new_parquet_file(
    directory: Path, schema: pa.Schema, repeating: Sequence[str]
) -> Iterator[NewParquetFile]:
    """Yield a file to write; once the block ends, it is on the disk and has its name.

    ``repeating`` are the columns with dictionary encoding.  If the block fails, there is no file.
    """
    draft = path = directory / f"part-{uuid4()}.unfinished"
    try:
        with pq.ParquetWriter(
            draft,
            schema,
            compression="zstd",
            compression_level=3,
            use_dictionary=list(repeating),
            store_schema=False,
            write_page_checksum=True,
        ) as writer:
            new = NewParquetFile(draft, writer)
            yield new
        sync_file(draft)
        name = f"{draft.stem}-{checksum(draft):08x}{_footer_checksum(draft):08x}.zstd.parquet"
        path = directory / name
        new.path = draft.rename(path)
        sync_directory(directory)
    except BaseException:
        for written in (draft, path):
            written.unlink(missing_ok=True)
        raise


def write_parquet(
    directory: Path, rows: pa.Table, group_rows: int, repeating: Sequence[str]
) -> Path:
    """Write rows as a new file, and return its path; its row groups have so many rows."""
    with new_parquet_file(directory, rows.schema, repeating) as new:
        new.writer.write_table(rows, row_group_size=group_rows)
    return new.path


@contextmanager
def open_parquet(path: str | Path, **options: Any) -> Iterator[pq.ParquetFile]:
    """Yield a file to read; DamagedFileError if its footer or a page is not as it was written."""
    with _damage_of(path):
        footer = parquet_footer(str(path))
        with pq.ParquetFile(
            path, metadata=footer, page_checksum_verification=True, **options
        ) as file:
            yield file


def read_parquet(path: str | Path, columns: Sequence[str] | None = None, **options: Any) -> Any:
    """Return a file's rows as an Arrow table."""
    with open_parquet(path, **options) as file:
        return file.read(columns=None if columns is None else list(columns))


@lru_cache(maxsize=512)
def parquet_footer(path: str) -> Any:
    """Return a file's metadata, verified; DamagedFileError if it is not as it was written."""
    with _damage_of(path):
        whole, footer = checksums_of(path)
        if Path(path).stat().st_size <= WHOLE and checksum(path) != whole:
            raise DamagedFileError(path, "its checksum does not agree")
        if _footer_checksum(path) != footer:
            raise DamagedFileError(path, "the checksum of its footer does not agree")
        return pq.read_metadata(path)


def verify_whole(path: str | Path) -> None:
    """Read a file and verify all of it; DamagedFileError if it is not as it was written."""
    if checksum(path) != checksums_of(path)[0]:
        raise DamagedFileError(path, "its checksum does not agree")


def checksums_of(path: str | Path) -> tuple[int, int]:
    """Return the checksums in a file's name, of all and of the footer.

    Raise DamagedFileError if there are none: only files of this module are read.

    >>> checksums_of("part-1b4e28ba-2fa1-11d2-883f-0016d3cca427-0000000a0000000b.zstd.parquet")
    (10, 11)
    """
    match = _CHECKSUMS.search(str(path))
    if match is None:
        raise DamagedFileError(path, "its name has no checksums")
    return int(match[1], 16), int(match[2], 16)


def checksum(path: str | Path) -> int:
    """Return the CRC-32 of a file."""
    value = 0
    with Path(path).open("rb") as file:
        while chunk := file.read(_CHUNK):
            value = crc32(chunk, value)
    return value


def _footer_checksum(path: str | Path) -> int:
    with Path(path).open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - 8))
        length = int.from_bytes(file.read(4), "little") + 8
        if not 8 < length <= size:
            raise DamagedFileError(path, "it was cut short")
        file.seek(size - length)
        return crc32(file.read())


@contextmanager
def _damage_of(path: str | Path) -> Iterator[None]:
    """Raise what the reader of Parquet says of a damaged file as an error that names it."""
    try:
        yield
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EIO):
            raise  # it is missing, or not ours to read
        reason = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
        if isinstance(error, OSError) and error.errno is None:
            verify_whole(path)
            # It is as it was written: its file system did not answer for a moment.
            raise OSError(errno.EIO, reason, str(path)) from error
        raise DamagedFileError(path, f"it cannot be read ({reason})") from error
