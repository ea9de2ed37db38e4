"""Hold a data directory, so that two `up` never run on one, and say where its parts are."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filters.runtime import data_dir_permissions
from tapestry.core.errors import TapestryError

ADDRESSES = ("redis.url", "spark.remote")


@contextmanager
def claimed(data: Path) -> Iterator[Path]:
    """Hold ``data`` and yield its ``run`` directory; TapestryError where that cannot be.

    The lock goes with the process, however it ends.  What was published is withdrawn.  What
    is made meanwhile, by this process and its children, nobody reads whom ``data`` keeps out.
    """
    run = data / "run"
    try:
        data_dir_permissions.create(data)
        data_dir_permissions.restrict(data)
        run.mkdir(exist_ok=True)
        run.chmod(0o700)
        lock = os.open(run / "up.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise TapestryError(
            f"The data directory {data} cannot be written to ({error.strerror}).",
            hint="Name another with --data DIR or TAPESTRY_DATA.",
        ) from error
    umask = data_dir_permissions.apply_umask(data)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(lock, 20).decode("ascii", "replace").strip()
            raise TapestryError(
                f"The data directory {data} is in use by another Tapestry (process {holder}).",
                hint="Stop that one, or name another directory with --data DIR.",
            ) from error
        os.ftruncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)
        withdraw(run)
        try:
            yield run
        finally:
            withdraw(run)
    finally:
        os.umask(umask)
        os.close(lock)


def publish(run: Path, name: str, value: str) -> None:
    """Tell other commands on this data directory an address; it is there whole or not at all."""
    waiting = run / f".{name}"
    waiting.touch(0o600)
    waiting.chmod(0o600)
    waiting.write_text(value + "\n")
    waiting.replace(run / name)


def withdraw(run: Path) -> None:
    """Take back every published address."""
    for name in ADDRESSES:
        (run / name).unlink(missing_ok=True)
