"""The site's secret key: from the environment, else kept in the data directory."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from filters.runtime.key_file import read_or_create


def secret_key(data: Path) -> str:
    """Return the key of SECRET_KEY, else that of ``secret.key``."""
    given = os.environ.get("SECRET_KEY")
    return given or read_or_create(data / "secret.key", lambda: secrets.token_urlsafe(48))
