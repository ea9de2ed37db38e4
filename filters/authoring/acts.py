"""What a filter is to do with what it finds, as its owner chooses it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from filters.authoring.models import ACTS, ACTS_A_DAY, Filter

DONE_WITH = {
    "read": "marked {} read",
    "star": "starred {}",
    "label": "tagged {}",
    "top": "put {} at the top of the inbox",
    "skip": "kept {} out of the inbox",
    "done": "filed {} as done",
    "flag": "flagged {} in the mailbox",
    "seen": "marked {} read in the mailbox",
    "tag": "tagged {} in the mailbox",
    "move": "moved {} to a folder of the mailbox",
    "trash": "moved {} to Trash in the mailbox",
}
"""What a filter has done with some messages, by the name of the act."""


@dataclass(frozen=True, slots=True)
class Acts:
    """What a filter does with what it finds: names of ``ACTS``, with blanks between.

    ``a_day``: with how many messages within a day at most.  ``on_existing``: with those that it
    has found, or finds in existing mail, too.  ``label``: with what it tags; ``keyword`` and
    ``folder``: with what it tags, and to where it moves, in a mailbox.
    """

    names: str = ""
    a_day: int = ACTS_A_DAY
    on_existing: bool = False
    label: str = ""
    keyword: str = ""
    folder: str = ""


NO_ACTS = Acts()


def acts_named(names: Collection[str]) -> str:
    """Return acts as they are stored: in their order, each once, and no other.

    >>> acts_named(["done", "read", "burn"])
    'read done'
    """
    return " ".join(name for name in ACTS if name in names)


def done_words(names: Collection[str], what: str, again: str = "it") -> str:
    """Return in words what acts did with what: ``again`` is its pronoun.

    >>> done_words(["read", "star", "label"], "31 messages", "them")
    'marked 31 messages read, starred them and tagged them'
    """
    parts = [DONE_WITH[name] for name in ACTS if name in names]
    *most, last = [part.format(again if at else what) for at, part in enumerate(parts)] or [""]
    return f"{', '.join(most)} and {last}" if most else last


def set_acts(filter_: Filter, acts: Acts | None, at: int, *, restarts: bool) -> bool:
    """Have a filter act from an instant on, if it does so anew; tell whether on what it has found.

    What was left as it was for want of room is told no more once its owner has changed this.
    """
    before = (filter_.acts, filter_.acts_a_day)
    if acts is not None:
        filter_.acts, filter_.acts_a_day = acts.names, acts.a_day
        filter_.acts_label = acts.label
        filter_.acts_keyword, filter_.acts_folder = acts.keyword, acts.folder
    if before != (filter_.acts, filter_.acts_a_day):
        filter_.acts_stopped_at, filter_.acts_left_out = None, 0
    on_existing = acts is not None and acts.on_existing and bool(acts.names)
    if on_existing:
        filter_.acts_since = None
    elif restarts or not set(filter_.acts.split()) <= set(before[0].split()):
        filter_.acts_since = at
    return on_existing
