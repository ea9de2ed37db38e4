"""A message in a mailbox, as mail programs know it: its UID, its flags, when it came."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from threading import Lock

from pymap.flags import SessionFlags
from pymap.interfaces.message import CachedMessage, FlagsKey
from pymap.parsing.specials import Flag, ObjectId
from pymap.parsing.specials.flag import Flagged, Seen, Wildcard

from filters.site.work.crypto.opaque_keys import keyed_digest
from tapestry.core.clock import to_datetime

SYSTEM = frozenset({Seen, Flagged})
"""The flags of the standard that are kept; others are ignored, as PERMANENTFLAGS tells."""

PERMANENT = SYSTEM | {Wildcard}
"""The flags that are kept: keywords are the tags of their person."""

MOST = 300_000
"""Letters that are kept in a process, of about 250 bytes."""

_NO_ID = ObjectId(None)


@lru_cache(10_000)
def flags_of(seen: bool, flagged: bool, keywords: frozenset[str]) -> frozenset[Flag]:
    """Return the flags of a message; equal ones are one object."""
    system = {Seen: seen, Flagged: flagged}
    return frozenset([*(flag for flag in system if system[flag]), *map(Flag, keywords)])


class Letter(CachedMessage):
    """What is known of a message of a mailbox without its content; ``card`` is the key of its card.

    There are as many in memory as the selected mailboxes have.
    """

    __slots__ = ("_received", "card", "flags_key", "permanent_flags", "uid")

    flags_key: FlagsKey
    permanent_flags: frozenset[Flag]
    uid: int

    def __init__(self, uid: int, card: int, received: int, flags: frozenset[Flag]) -> None:
        self.uid, self.card, self._received = uid, card, received
        self.permanent_flags = flags
        self.flags_key = (uid, self.permanent_flags)

    @property
    def internal_date(self) -> datetime:
        return to_datetime(self._received)

    @property
    def email_id(self) -> ObjectId:
        return ObjectId(b"M" + keyed_digest("imap message", str(self.card)).encode())

    @property
    def thread_id(self) -> ObjectId:
        return _NO_ID

    def get_flags(self, session_flags: SessionFlags) -> frozenset[Flag]:
        """Return its flags: none is of a session alone."""
        return self.permanent_flags


class KeptLetters:
    """The letters of the mailboxes last asked for, each as of a state of it, in this process."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, tuple[str, list[Letter]]] = OrderedDict()
        self._lock = Lock()

    def get(self, folder: int, state: str) -> list[Letter] | None:
        """Return the letters of a mailbox in a state; None if they are not kept."""
        with self._lock:
            of, letters = self._kept.get(folder, ("", None))
            return letters if of == state else None

    def put(self, folder: int, state: str, letters: list[Letter]) -> None:
        """Keep the letters of a mailbox, and forget others where there are too many."""
        with self._lock:
            self._kept.pop(folder, None)
            self._kept[folder] = state, letters
            while len(self._kept) > 1 and sum(len(kept) for _, kept in self._kept.values()) > MOST:
                self._kept.popitem(last=False)


def first_unseen(letters: Sequence[Letter]) -> int | None:
    """Return the number, from 1, of the first that is unread."""
    return next(
        (n for n, letter in enumerate(letters, 1) if Seen not in letter.permanent_flags), None
    )
