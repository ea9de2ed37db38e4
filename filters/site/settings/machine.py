"""TAPESTRY_MACHINE: the name of this machine, where several run the parts of one site."""

from __future__ import annotations

import re
from pathlib import Path

from tapestry.core.errors import TapestryError


def read_machine(text: str) -> str:
    """Return the name, "" where one machine runs all; TapestryError if it is no name.

    >>> read_machine("web-1")
    'web-1'
    """
    if not re.fullmatch(r"[A-Za-z0-9_-]{0,60}", text):
        raise TapestryError(
            "TAPESTRY_MACHINE is not the name of a machine.",
            hint="Write at most 60 letters, digits, - and _, such as web-1.",
        )
    return text


def run_directory(data: Path, machine: str) -> Path:
    """Return where the addresses, logs and requests of what runs on a machine lie.

    >>> run_directory(Path("/srv"), "").as_posix(), run_directory(Path("/srv"), "a").as_posix()
    ('/srv/run', '/srv/run/machines/a')
    """
    return data / "run" / "machines" / machine if machine else data / "run"
