"""Secrets of people, encrypted at rest with a key that is not in the database."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken

from filters.runtime import data_dir_permissions
from tapestry.core.errors import TapestryError

VARIABLE = "TAPESTRY_SOURCE_KEY"
FILE = "source.key"


def seal(secret: str, data: Path) -> str:
    """Return a secret as it may be stored; empty stays empty."""
    return _fernet(data).encrypt(secret.encode()).decode() if secret else ""


def unseal(sealed: str, data: Path) -> str:
    """Return what was sealed.  Raises TapestryError if the key is another."""
    if not sealed:
        return ""
    try:
        return _fernet(data).decrypt(sealed.encode()).decode()
    except InvalidToken as error:
        raise TapestryError(
            "The password is stored, but the key to it is another by now.",
            hint=f"Bring {FILE} back into the data directory, or give the password again.",
        ) from error


def _fernet(data: Path) -> Fernet:
    try:
        return Fernet(os.environ.get(VARIABLE) or _kept(data))
    except ValueError as error:
        raise TapestryError(
            f"What {VARIABLE}, or {FILE} in the data directory, holds is not a key.",
            hint="A key is 32 bytes in URL-safe base64; without one, one is made.",
        ) from error


def _kept(data: Path) -> str:
    """Return the key in the data directory; make it on first use, its owner's alone to read.

    Several processes may come at once: the one that links its file first has made the key.
    """
    kept = data / FILE
    if not kept.exists():
        data_dir_permissions.make(data)
        made = data / f".{FILE}.{secrets.token_hex(4)}"
        with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(Fernet.generate_key())
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(made, kept)
        except FileExistsError:
            pass
        finally:
            made.unlink()
    return kept.read_text().strip()
