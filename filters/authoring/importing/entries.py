"""What a file of filters holds: filters, clause by clause, each translated or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tapestry.core.errors import TapestryError

MOST_ENTRIES = 100
"""Filters that are offered at a time: a form has 1,000 fields, and each of these three."""

DELETES = (
    "This rule deletes what it finds, and a filter here would show it: tick it if you want that."
)
SPAM = "This rule is for spam, and a filter here would show it: tick it if you want that."

MOST_CLAUSES = 100
"""Clauses of one filter that are shown."""

LONGEST_SOURCE = 300
"""Characters that are shown of a clause."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a file as it stands there; ``text`` is the filter that it became.

    ``problem`` says in a sentence why it was not translated, or why ``text`` finds only nearly the
    same.  ``is_action``: it says what becomes of a message, and not which messages are meant.
    """

    source: str
    text: str = ""
    problem: str = ""
    is_action: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """A filter of a file: its text, and its other options as the form of a filter has them.

    ``acts`` names what a rule from elsewhere does with what it finds, as a filter here does it, and
    ``label`` with what it tags; ``objection`` says why a filter here would do the opposite, so that
    it is not ticked.
    ``is_exact``: no condition was left out, so that it finds what it found elsewhere.
    ``properties`` are those of a filter of Gmail, or a saved search, not translated yet: that takes
    milliseconds, so it is done page by page (filters.authoring.importing.gmail.filters.translated).
    """

    title: str
    text: str
    clauses: tuple[Clause, ...] = ()
    is_exact: bool = True
    options: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    acts: str = ""
    objection: str = ""
    label: str = ""


def check_count(count: int, most: int) -> None:
    """Refuse a file with more filters than anybody can have; raises UnreadableFileError."""
    if count > most:
        raise UnreadableFileError(
            f"This file has {count:,} filters, more than {most:,}: import it in parts."
        )


class UnreadableFileError(TapestryError):
    """A file that holds no filters; the message says why, for who chose it."""


def shown(source: str) -> str:
    """Return a clause on one line, cut where it is long.

    >>> shown("size   :over  10K")
    'size :over 10K'
    """
    line = " ".join(source.split())
    return line if len(line) <= LONGEST_SOURCE else f"{line[: LONGEST_SOURCE - 1]}…"
