"""A message in a mailbox, as mail programs know it: its UID, its flags, when it came."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pymap.flags import SessionFlags
from pymap.interfaces.message import CachedMessage, FlagsKey
from pymap.parsing.specials import Flag, ObjectId
from pymap.parsing.specials.flag import Flagged, Seen

from filters.site.work.crypto.opaque_keys import keyed_digest
from tapestry.core.clock import to_datetime

PERMANENT = frozenset({Seen, Flagged})
"""The flags that are kept; others are ignored, as PERMANENTFLAGS tells."""

_NO_ID = ObjectId(None)
_FLAGS = {
    (seen, flagged): frozenset(
        flag for flag, is_set in ((Seen, seen), (Flagged, flagged)) if is_set
    )
    for seen in (False, True)
    for flagged in (False, True)
}


class Letter(CachedMessage):
    """What is known of a message of a mailbox without its content; ``card`` is the key of its card.

    There are as many in memory as the selected mailboxes have.
    """

    __slots__ = ("_received", "card", "flags_key", "permanent_flags", "uid")

    flags_key: FlagsKey
    permanent_flags: frozenset[Flag]
    uid: int

    def __init__(self, uid: int, card: int, received: int, *, seen: bool, flagged: bool) -> None:
        self.uid, self.card, self._received = uid, card, received
        self.permanent_flags = _FLAGS[seen, flagged]
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


def first_unseen(letters: Sequence[Letter]) -> int | None:
    """Return the number, from 1, of the first that is unread."""
    return next(
        (n for n, letter in enumerate(letters, 1) if Seen not in letter.permanent_flags), None
    )
