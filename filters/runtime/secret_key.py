"""The site's secret key: from the environment, else kept in the data directory."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from filters.runtime import data_dir_permissions


def secret_key(data: Path) -> str:
    """Return the key; make it on first use, readable by its owner only.

    Several processes may come at once: the one that links its file first has made the key.
    """
    given = os.environ.get("SECRET_KEY")
    if given:
        return given
    kept = data / "secret.key"
    if not kept.exists():
        data_dir_permissions.make(data)
        made = data / f"secret.{secrets.token_hex(4)}"
        with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(48))
        try:
            os.link(made, kept)
        except FileExistsError:
            pass
        finally:
            made.unlink()
    return kept.read_text().strip()
