"""Hold what runs on a data directory from this machine, and say where its parts are.

So two `up` never run on one, but of machines with names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from django.conf import settings

from filters.site.settings.machine import run_directory
from filters.site.work import data_dir_permissions
from filters.site.work.parts import endings
from filters.site.work.parts.addresses import LOCK, REMOTES
from filters.site.work.restoring import check_restored
from tapestry.core.errors import TapestryError
from tapestry.core.files.file_lock import file_lock

ADDRESSES = (
    "redis.url",
    endings.NAME,
    *(f"{s}.{what}" for s in REMOTES for what in ("remote", "pid", "wanted", "again")),
)


@contextmanager
def claimed(data: Path) -> Iterator[Path]:
    """Hold ``data`` and yield its ``run`` directory; TapestryError if that is impossible.

    The lock is released when the process ends, in whatever way, and published addresses are
    withdrawn.  Files that this process and its children make meanwhile are as closed to other
    people as ``data`` is.
    """
    run = run_directory(data, settings.MACHINE)
    lock = run / LOCK
    with ExitStack() as stack:
        try:
            data_dir_permissions.create(data)
            data_dir_permissions.restrict(data)
            run.mkdir(parents=True, exist_ok=True)
            run.chmod(0o700)
            acquired = stack.enter_context(file_lock(lock, mode=0o600))
            owner = "" if acquired else lock.read_text(errors="replace")[:20].strip()
        except OSError as error:
            raise TapestryError(
                f"The data directory {data} cannot be written to ({error.strerror}).",
                hint="Name another with --data DIR or TAPESTRY_DATA.",
            ) from error
        if not acquired:
            raise TapestryError(
                f"The data directory {data} is in use by another Tapestry (process {owner}).",
                hint="Stop that one, or name another directory with --data DIR.",
            )
        check_restored(data)
        stack.callback(os.umask, data_dir_permissions.apply_umask(data))
        lock.write_text(str(os.getpid()))
        _withdraw(run)
        stack.callback(_withdraw, run)
        yield run


def publish(run: Path, name: str, value: str) -> None:
    """Write an address for other commands on this data directory, atomically."""
    temporary = run / f".{name}"
    temporary.touch(0o600)
    temporary.chmod(0o600)
    temporary.write_text(value + "\n")
    temporary.replace(run / name)


def _withdraw(run: Path) -> None:
    for name in ADDRESSES:
        (run / name).unlink(missing_ok=True)
