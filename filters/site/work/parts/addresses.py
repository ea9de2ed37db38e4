"""Where the two Sparks are: the environment says it, or the `up` that runs on the data directory.

It is read before the settings are, by a command that says at once what it does.
"""

from __future__ import annotations

import os
from pathlib import Path

from tapestry.core.files.file_lock import is_held

PROVEN, UNPROVEN = "spark", "spark-unproven"
"""The two Sparks, as their files in ``DATA/run`` begin."""

REMOTES = {PROVEN: "SPARK_REMOTE", UNPROVEN: "SPARK_UNPROVEN_REMOTE"}
"""The variable of the environment that says where each of them is."""

LOCK = "up.lock"
"""The file in ``DATA/run`` whose lock an `up` holds as long as it runs."""


def spark_remote(run: Path, server: str = PROVEN) -> str | None:
    """Return where Spark Connect serves (``sc://…``), or None if that is not set.

    The second Spark is the first where only that one is set.
    """
    environ = os.environ.get
    return environ(REMOTES[server]) or published(run, server) or environ(REMOTES[PROVEN])


def is_dormant(run: Path, server: str) -> bool:
    """Return whether an `up` runs here that starts a Spark once it is needed, and has not yet."""
    return is_held(run / LOCK) and spark_remote(run, server) is None


def published(run: Path, server: str) -> str | None:
    """Return the address of a Spark that `up` has started; None if no `up` runs.

    One that was killed has left its addresses behind.
    """
    return written(run, f"{server}.remote") if is_held(run / LOCK) else None


def owner(run: Path, server: str) -> int | None:
    """Return the number of the user whose `up` started a Spark; None where another is used.

    Its secrets and the mail of its statements are for a server of that user alone.
    """
    remote = published(run, server)
    if remote is None or remote != spark_remote(run, server):
        return None
    try:
        return (run / f"{server}.pid").stat().st_uid
    except FileNotFoundError:
        return None


def written(run: Path, name: str) -> str | None:
    """Return what stands in a file of ``DATA/run``; None if it is not there."""
    try:
        return (run / name).read_text().strip() or None
    except FileNotFoundError:
        return None
