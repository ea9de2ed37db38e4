"""The locks of a site, as a database has them for several machines: a session may lose its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class SiteLocks:
    """Locks of files of a directory for each session: who has another knows nothing of them."""

    def __init__(self, data: Path) -> None:
        self.data, self.session = data, 0

    @contextmanager
    def hold(self, path: Path, wait: float, *, shared: bool) -> Iterator[bool]:
        """Hold a lock, alone or with others; yield whether it was acquired within ``wait``."""
        from tapestry.core.files import file_lock

        file = self._file(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        if shared:
            with file_lock.shared_lock(file):
                yield True
            return
        with file_lock.file_lock(file, wait=wait) as acquired:
            yield acquired

    def is_held(self, path: Path) -> bool:
        """Return whether anybody holds a lock, alone or with others."""
        from tapestry.core.files import file_lock

        return file_lock.is_held(self._file(path))

    def _file(self, path: Path) -> Path:
        sessions = self.data.with_name(f"{self.data.name}-locks") / str(self.session)
        return sessions / path.relative_to(self.data)


def give_locks(data: Path) -> SiteLocks:
    """Have the product's locks be those of a session."""
    from tapestry.core.files.site_lock import lock_in_database

    locks = SiteLocks(data)
    lock_in_database(locks)
    return locks
