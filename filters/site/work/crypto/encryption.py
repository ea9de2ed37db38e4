"""Encryption at rest: secrets of people, with a key that is not in the database."""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken

from filters.site.work.crypto.key_file import read_or_create
from tapestry.core.errors import TapestryError

KEY_VARIABLE = "TAPESTRY_SOURCE_KEY"
KEY_FILE = "source.key"


def encrypt(secret: str, data: Path) -> str:
    """Return a secret as it may be stored; empty stays empty."""
    return _fernet(data).encrypt(secret.encode()).decode() if secret else ""


def decrypt(ciphertext: str, data: Path) -> str:
    """Return the secret.  Raises TapestryError if it was encrypted with another key."""
    if not ciphertext:
        return ""
    try:
        return _fernet(data).decrypt(ciphertext.encode()).decode()
    except InvalidToken as error:
        raise TapestryError(
            "The secret is stored, but the key to it is another by now.",
            hint=f"Bring {KEY_FILE} back into the data directory, or give the secret again.",
        ) from error


def _fernet(data: Path) -> Fernet:
    given = os.environ.get(KEY_VARIABLE)
    try:
        return Fernet(
            given or read_or_create(data / KEY_FILE, lambda: Fernet.generate_key().decode())
        )
    except ValueError as error:
        raise TapestryError(
            f"What {KEY_VARIABLE}, or {KEY_FILE} in the data directory, holds is not a key.",
            hint="A key is 32 bytes in URL-safe base64; without one, one is made.",
        ) from error
