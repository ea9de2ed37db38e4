"""Mirroring: a second copy of each small file that cannot be made again from others.

    directory/NAME          the file: whole once it has its name
    directory_mirror/NAME   its bytes, with checksums (tapestry.core.files.checksummed_file)

One damaged sector must not cost a table, nor let removed mail in again.  A damaged file is written
again from its mirror, and a mirror that is not whole from its file.
"""

from __future__ import annotations

from contextlib import nullcontext, suppress
from pathlib import Path

from tapestry.core.files.checksummed_file import ChecksummedFile, is_whole, write_checksummed
from tapestry.core.files.damage import DamagedFileError, mended
from tapestry.core.files.durable import whole_file

_SUFFIX = "_mirror"
"""After the name of a directory.  Programs that read Delta tables ignore ``_delta_log_mirror``."""


def mirrors_of(directory: Path) -> Path:
    """Return the directory that mirrors another.

    >>> mirrors_of(Path("messages/_delta_log")).as_posix()
    'messages/_delta_log_mirror'
    """
    return directory.with_name(directory.name + _SUFFIX)


def mirror_of(path: Path) -> Path:
    """Return the mirror of a file."""
    return mirrors_of(path.parent) / path.name


def is_mirror(directory: Path) -> bool:
    """Return whether a directory mirrors another."""
    return directory.name.endswith(_SUFFIX)


def mirrored_by(mirror: Path) -> Path:
    """Return the file that a path is the mirror of.

    >>> mirrored_by(Path("messages/_delta_log_mirror/0.json")).as_posix()
    'messages/_delta_log/0.json'
    """
    return mirror.parent.with_name(mirror.parent.name.removesuffix(_SUFFIX)) / mirror.name


def write_mirror(path: Path, content: bytes, *, synced: bool = False) -> None:
    """Write the mirror of a file.

    With ``synced`` it is on the disk afterwards, or OSError is raised.  Else it may be missing, or
    not whole, until its file is checked.
    """
    mirror = mirror_of(path)
    with nullcontext() if synced else suppress(OSError):
        mirror.parent.mkdir(path.parent.stat().st_mode & 0o777, exist_ok=True)
        write_checksummed(mirror, content, synced=synced)


def read_mirror(path: Path, *, checksummed: bool = False) -> bytes | None:
    """Return the content of a file as its mirror has it; None if that is not whole."""
    try:
        return content_of(mirror_of(path), checksummed=checksummed)
    except (DamagedFileError, OSError):
        return None


def content_of(mirror: Path, *, checksummed: bool = False) -> bytes:
    """Return the content of a file as a mirror has it.

    ``checksummed``: so is the file.  Its mirror, cut where its content ends, is that file, and
    would be read as the mirror of what that holds.  Raises DamagedFileError, FileNotFoundError.
    """
    content = ChecksummedFile(mirror).read().tobytes()
    if checksummed and not is_whole(content):
        raise DamagedFileError(mirror, "it was cut short")
    return content


def write_again(path: Path, content: bytes, reason: str) -> None:
    """Write a damaged file as its mirror has it, with a line of the log."""
    with whole_file(path) as file:
        file.write(content)
    mended(path, reason, "written again from its mirror")


def mend(error: DamagedFileError) -> None:
    """Write a damaged file again from its mirror; raise the error if that is not whole either."""
    path = Path(error.path)
    content = read_mirror(path)
    if content is None:
        raise error
    write_again(path, content, error.reason)


def renew(mirror: Path) -> None:
    """Write a mirror again from its file, or delete it if there is none."""
    path = mirrored_by(mirror)
    mirror.unlink(missing_ok=True)
    if path.exists():
        write_mirror(path, path.read_bytes(), synced=True)


def read_mirrored(path: Path) -> bytes:
    """Return the payload of a checksummed file that has a mirror; DamagedFileError."""
    try:
        return ChecksummedFile(path).read().tobytes()
    except DamagedFileError as error:
        mend(error)
        return ChecksummedFile(path).read().tobytes()


def remove_mirrored(path: Path) -> None:
    """Delete a file and, after it, its mirror."""
    path.unlink(missing_ok=True)
    mirror_of(path).unlink(missing_ok=True)
