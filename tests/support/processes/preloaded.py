"""Small libraries in C that programs are started with (LD_PRELOAD)."""

from __future__ import annotations

import subprocess
from pathlib import Path


def build(name: str, directory: Path) -> Path:
    """Compile a library of this directory; return it."""
    library = directory / f"{name}.so"
    source = Path(__file__).with_name(f"{name}.c")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library
