"""Opaque keys: primary keys that are shown, encrypted, for they number the rows of all people.

One block of AES with a key that is derived from the site's: the same key is the same text.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from functools import lru_cache
from hmac import HMAC

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB
from django.conf import settings
from django.utils.crypto import salted_hmac

_BLOCK = 16
_PADDING = b"=="


def encrypt(key: int) -> str:
    """Return a primary key as 22 characters of an address, in which nobody can read it."""
    encryptor = _cipher(settings.SECRET_KEY).encryptor()
    block = encryptor.update(key.to_bytes(_BLOCK, "big"))
    return urlsafe_b64encode(block).rstrip(b"=").decode("ascii")


def decrypt(text: str, most: int = 1 << 63) -> int:
    """Return the key behind a text, below ``most``; raise ValueError if it is not from ``encrypt``.

    Few of all texts are of a key below that: so those that were not made here are known.
    """
    block = urlsafe_b64decode(text.encode("ascii") + _PADDING)
    if len(block) != _BLOCK:
        raise ValueError("This is no encrypted key.")
    key = int.from_bytes(_cipher(settings.SECRET_KEY).decryptor().update(block), "big")
    if key >= most:
        raise ValueError("This is no encrypted key.")
    return key


def keyed_digest(purpose: str, text: str) -> str:
    """Return a digest of a text that may name keys: without the site's key nobody can guess them.

    64 hexadecimal digits.
    """
    return digester(purpose)(text)


def digester(purpose: str) -> Callable[[str], str]:
    """Return the function that makes these digests, for one purpose and many texts."""
    without_text = _mac(purpose, settings.SECRET_KEY)

    def digest(text: str) -> str:
        mac = without_text.copy()
        mac.update(text.encode())
        return mac.hexdigest()

    return digest


@lru_cache(maxsize=32)
def _mac(purpose: str, secret: str) -> HMAC:
    """Return the MAC of no text: to derive its key takes longer than a digest does."""
    return salted_hmac(f"filters.{purpose}", b"", secret, algorithm="sha256")


@lru_cache(maxsize=2)
def _cipher(secret: str) -> Cipher[ECB]:
    derived = salted_hmac(__name__, b"", secret, algorithm="sha256").digest()
    # ECB is for single blocks, and each key is one.
    return Cipher(AES(derived[:_BLOCK]), ECB())
