"""Faults of the surroundings: errors that no filter, message or person has caused.

A full disk, a damaged file, a database or an engine that is gone fail for everybody: whoever
serves many stops, and goes on later.  Any other error costs what caused it, and nothing else.
"""

from __future__ import annotations

import errno

from tapestry.core.errors import OwnFaultError, TapestryError
from tapestry.core.files.damage import DamagedFileError
from tapestry.core.files.disk_space import is_disk_full

_OF_SYSTEM = {"EMFILE", "ENFILE", "EIO", "EROFS", "ENOMEM"}
_OF_SERVER = {"ENOTCONN", "ESTALE", "EBADFD"}
"""What a mounted file system answers while its server is gone, and just after."""

_NUMBERS = frozenset(
    number for number, name in errno.errorcode.items() if name in _OF_SYSTEM | _OF_SERVER
)
_FILES = (FileNotFoundError, PermissionError, NotADirectoryError)
_PARTS = frozenset(
    {
        "django.db.utils.InterfaceError",
        "django.db.utils.OperationalError",
        "kombu.exceptions.OperationalError",
        "redis.exceptions.RedisError",
    }
)
"""Errors of the parts beside the process, by name: rooms do not know what the application uses."""

SQLITE_ERROR = 1
"""SQLite's code of a statement that cannot be: not of a file, a lock or the disk."""

_TOO_COMPLEX = "54"
"""The class of SQLSTATE of a statement that is too much by itself."""


class NobodysFaultError(TapestryError):
    """A part of this site does not work: no filter is to blame."""


def is_of_surroundings(error: BaseException) -> bool:
    """Return whether an error, or what caused it, is a fault of the surroundings.

    Of an error that is a sentence for people, whoever raised it has judged that already.

    >>> is_of_surroundings(FileNotFoundError("a")), is_of_surroundings(KeyError("a"))
    (True, False)
    """
    if is_disk_full(error) or isinstance(error, (DamagedFileError, NobodysFaultError)):
        return True
    if isinstance(error, TapestryError):
        return False
    cause = error.__cause__
    return (
        isinstance(error, _FILES)
        or (isinstance(error, OSError) and error.errno in _NUMBERS)
        or _is_of_part(error)
        or (cause is not None and is_of_surroundings(cause))
    )


def is_unforeseen(error: BaseException) -> bool:
    """Tell whether an error is no sentence for people, and is of something that is set aside.

    >>> is_unforeseen(TapestryError("The server is busy.")), is_unforeseen(OwnFaultError(""))
    (False, True)
    """
    foreseen = isinstance(error, TapestryError) and not isinstance(error, OwnFaultError)
    return not foreseen and not is_of_surroundings(error)


def _is_of_part(error: BaseException) -> bool:
    """Return whether an error says that the database or the queue does not answer."""
    if _PARTS.isdisjoint(f"{kind.__module__}.{kind.__name__}" for kind in type(error).__mro__):
        return False
    cause = error.__cause__
    code = getattr(cause, "sqlite_errorcode", None)
    state = getattr(cause, "sqlstate", None) or ""
    return code != SQLITE_ERROR and not state.startswith(_TOO_COMPLEX)
