"""The first words of messages, as lists show them: kept with cards, as bodies take long to read.

Digests and feeds show excerpts of few messages, made with care (filters.reading.rendering.excerpt).
A list has words of all that was ever found, so these are had at a glance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tapestry.core.files.damage import DamagedFileError
from tapestry.core.log import event
from tapestry.core.schema import MESSAGES
from tapestry.deliver.one_line import one_line
from tapestry.tables.delta.data_files import DataFile
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import lookup

LONGEST = 140
"""Characters that are kept."""

READ = 4096
"""Characters of a body that are looked at."""

AT_ONCE = 1000
"""Bodies that are in memory at once."""


def beginnings(
    tables: Tables,
    audience: str,
    rows: Iterable[Mapping[str, Any]],
    data_files: Iterable[DataFile],
) -> dict[str, str]:
    """Return the first words of the copies of messages for one audience, by msgid.

    Rows name them by ``msgid`` and ``ts``.  Those whose file is damaged have none: a list says
    what matters without them.
    """
    oldest_first: Sequence[Any] = sorted(rows, key=lambda row: row["ts"])  # as the files are
    files, found = tuple(data_files), dict[str, str]()
    for first in range(0, len(oldest_first), AT_ONCE):
        msgids = [row["msgid"] for row in oldest_first[first : first + AT_ONCE]]
        try:
            bodies = lookup(tables, MESSAGES, "msgid", msgids, [audience], ("msgid", "body"), files)
        except DamagedFileError as error:
            event("no_beginnings", file=error.path)
            continue
        found |= {row["msgid"]: beginning(row["body"]) for row in bodies}
    return found


def beginning(body: str | None) -> str:
    r"""Return the first words of a body that its author wrote, as one line; they may be none.

    Quotations are left out, with the line before them that says whose they are, and the signature.

    >>> beginning("On Monday Joe wrote:\n> Shall we?\n\nYes, at\nnoon.\n-- \nTerry")
    'Yes, at noon.'
    """
    own: list[str] = []
    length = 0
    for line in (body or "")[:READ].splitlines():
        if line in ("-- ", "--"):
            break
        text = line.strip()
        if text.startswith(">"):
            if own and own[-1].endswith(":"):
                length -= len(own.pop())
        elif text:
            if length > LONGEST:
                break
            own.append(text)
            length += len(text)
    return one_line(" ".join(own), LONGEST)
