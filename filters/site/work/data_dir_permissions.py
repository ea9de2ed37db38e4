"""Permissions of the data directory: nobody else may read it, unless it is shared with a group."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

from tapestry.core.files.durable import make_directory

log = logging.getLogger(__name__)

_MARKS = {"tables", "secret.key"}
"""A directory that holds one of these is a data directory; another may be something else."""


def create(data: Path) -> None:
    """Create the data directory where it is missing, for this user alone."""
    make_directory(data, mode=0o700)


def restrict(data: Path) -> None:
    """Remove the permissions of others from a data directory that is open to all; log that.

    It is left as it is, with a warning, where it belongs to another user, holds something else,
    or is read by a Spark that may run as another user (SPARK_REMOTE).  A directory that is open
    to a group alone was opened on purpose, and remains so.
    """
    state = data.stat()
    if not state.st_mode & stat.S_IRWXO:
        return
    names = {path.name for path in data.iterdir()}
    is_data_dir = not names or not names.isdisjoint(_MARKS)
    if is_data_dir and state.st_uid == os.geteuid() and not os.environ.get("SPARK_REMOTE"):
        data.chmod(stat.S_IMODE(state.st_mode) & ~(stat.S_IRWXG | stat.S_IRWXO))
        log.warning("Other users of this machine could read %s; now they cannot.", data)
    else:
        log.warning("Other users of this machine may read %s; chmod 700 shuts them out.", data)


def apply_umask(data: Path) -> int:
    """Give the files that this process makes no more permissions than the data directory has.

    Return the umask as it was before.
    """
    mode = data.stat().st_mode if data.exists() else 0o700
    before = os.umask(0o077)
    os.umask(before | (~mode & 0o077))
    return before
