"""Who else on this machine may read what is stored: nobody, unless the data directory lets them."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

log = logging.getLogger(__name__)

_OURS = {"tables", "secret.key"}
"""A directory with one of these holds a Tapestry; with none of them perhaps something else."""


def make(data: Path) -> None:
    """Make the data directory where it is missing, for this user alone."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)


def narrow(data: Path) -> None:
    """Shut everybody else out of a data directory that is open to all, and say so.

    It is left as it is, and that is said, where it is not ours, holds something else, or a
    Spark of one's own may read it as another user.  One that is open to a group alone was
    made so by somebody, and remains so.
    """
    state = data.stat()
    if not state.st_mode & stat.S_IRWXO:
        return
    held = {path.name for path in data.iterdir()}
    is_ours = state.st_uid == os.geteuid() and (not held or not held.isdisjoint(_OURS))
    if is_ours and not os.environ.get("SPARK_REMOTE"):
        data.chmod(stat.S_IMODE(state.st_mode) & ~(stat.S_IRWXG | stat.S_IRWXO))
        log.warning("Other users of this machine could read %s; now they cannot.", data)
    else:
        log.warning("Other users of this machine may read %s; chmod 700 shuts them out.", data)


def follow(data: Path) -> int:
    """Let whom the data directory keeps out read nothing that this process makes from now on.

    Return the umask as it was.
    """
    mode = data.stat().st_mode if data.exists() else 0o700
    before = os.umask(0o077)
    os.umask(before | (~mode & 0o077))
    return before
