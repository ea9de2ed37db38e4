"""The version of the program that runs: another one may not have the fault that was met."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("tapestry", "filters")


@cache
def program_version() -> str:
    """Return a digest of the program's source, as it is when this process first asks.

    >>> len(program_version())
    16
    """
    digest = hashlib.sha256()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            digest.update(f"{path.relative_to(ROOT)}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
