"""Keys in the data directory: made on first use, readable by their owner alone."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path

from filters.site.work import data_dir_permissions
from tapestry.core.files.durable import sync_directory


def read_or_create(path: Path, generate: Callable[[], str]) -> str:
    """Return the key in a file; generate it where the file is missing.

    Several processes may come at once: the one that links its file first has made the key.
    """
    if not path.exists():
        data_dir_permissions.create(path.parent)
        draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(generate())
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
        sync_directory(path.parent)  # else what it encrypts may outlive it
    return path.read_text().strip()


def secret_key(data: Path) -> str:
    """Return the site's key: that of SECRET_KEY, else that of ``secret.key``."""
    given = os.environ.get("SECRET_KEY")
    return given or read_or_create(data / "secret.key", lambda: secrets.token_urlsafe(48))
