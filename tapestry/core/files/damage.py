"""Damage of a stored file: the error that names the file, and the log line that says it is mended.

A file is damaged if its bytes are not those that were written: a checksum tells.  What can be made
again from other files is: that is mended.  All else is an error, which says what to do.
"""

from __future__ import annotations

import logging
from os import PathLike

from tapestry.core.errors import TapestryError
from tapestry.core.log import line

WHAT_TO_DO = "Run manage.py check-data: it says what is damaged, and --repair mends what it can."

log = logging.getLogger(__name__)


class DamagedFileError(TapestryError):
    """A file is not as it was written; ``path`` is that file."""

    def __init__(self, path: str | PathLike[str], reason: str) -> None:
        super().__init__(f"The file {path} is damaged: {reason}.", hint=WHAT_TO_DO)
        self.path = str(path)
        self.reason = reason


def mended(path: str | PathLike[str], reason: str, how: str) -> None:
    """Log that a file was damaged, and what was done about it."""
    log.warning("%s", line("damaged", file=str(path), reason=reason, mended=how))
