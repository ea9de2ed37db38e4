"""Where all that is stored lies, unless it is said."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parents[3]
"""The checkout, or what the package was installed into."""


def is_checkout() -> bool:
    """Return whether this is the repository, and not an installed package."""
    return (HERE / "manage.py").exists()


def data_directory(environ: Mapping[str, str]) -> Path:
    """Return the data directory: of TAPESTRY_DATA; else in the checkout, or the person's own."""
    return Path(environ.get("TAPESTRY_DATA") or Path(usual(environ)).expanduser()).absolute()


def usual(environ: Mapping[str, str]) -> str:
    """Return the data directory of a person who names none.

    >>> usual({}) in (str(HERE / "var"), "~/.local/share/tapestry")
    True
    """
    if is_checkout():
        return str(HERE / "var")
    return f"{environ.get('XDG_DATA_HOME') or '~/.local/share'}/tapestry"
