"""The new messages of one IMAP folder, in memory that does not grow with the folder.

UIDs after the cursor ─ windows ─> UIDs ─ sizes ─> batches ─ BODY.PEEK[] ─> items
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from imapclient import IMAPClient
from imapclient.exceptions import IMAPClientAbortError, IMAPClientError

from tapestry.ingest.source import Item, Memory
from tapestry.ingest.withheld import Withheld
from tapestry.tables.append import Cursor

BATCH = 100
BATCH_BYTES = 16 * 1024 * 1024

_SIZES_AT_ONCE = 2000
_WINDOW = 5000
_WIDEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder as it stood when it was opened.

    ``next`` is the UID that its next message will have, 0 where the server does not say;
    ``modseq`` counts its changes, 0 where the server does not.
    """

    name: str
    validity: int
    next: int
    messages: int
    modseq: int = 0

    def at_most_after(self, last: int) -> int:
        """Return how many messages can be new, at most, after a UID.

        >>> Folder("INBOX", 1, 91, 20).at_most_after(80)
        10
        """
        if not self.next:
            return self.messages
        return max(0, min(self.messages, self.next - 1 - last))


@dataclass(slots=True)
class NewMessages:
    """What is new in a folder that was opened; ``origin`` names it in cursors.

    ``modseq`` is remembered beside the cursor: by it a later pull sees that nothing changed.
    """

    client: IMAPClient
    folder: Folder
    origin: str
    memory: Memory
    withheld: Withheld = field(init=False)

    def __post_init__(self) -> None:
        self.withheld = Withheld(self.memory, self.folder.name, self.folder.validity)

    def after(self, last: int) -> Iterator[Item]:
        """Yield the messages with a UID above ``last``, lowest first.

        At the end the cursor passes UIDs that vanished, and those that could not be had
        before are asked for again.
        """
        reached = last
        for uids in windows(self.client, last + 1, self.folder.next):
            for batch in _batches(self.client, uids):
                # One by one, if the line broke in it.
                careful = self.withheld.touches(batch[0], batch[-1])
                for part in [[uid] for uid in batch] if careful else [batch]:
                    bodies = self._fetch(part)
                    for uid in part:
                        reached = uid
                        yield Item(bodies.pop(uid, None), self.origin, Cursor(self.origin, uid))
        end = max(reached, self.folder.next - 1)
        if end > last:
            yield Item(None, self.origin, Cursor(self.origin, end), now=True)
        self.withheld.all_is_well()
        for uid in self.withheld.due():
            raw = self._ask_again(uid)
            if raw is not None:
                yield Item(raw, self.origin, now=True)
            if raw is not None or uid not in self.client.search(["UID", str(uid)]):
                self.withheld.settle(uid)
        standing = {"uidvalidity": self.folder.validity, "modseq": self.folder.modseq}
        self.memory.remember(self.folder.name, self.memory.recall(self.folder.name) | standing)

    def _fetch(self, uids: list[int]) -> dict[int, bytes]:
        """Return bodies by UID; put aside those that the server lists but will not hand over."""
        if len(uids) == 1 and self.withheld.is_hopeless(uids[0]):
            self.withheld.put_aside(uids)
            return {}
        try:
            got: Any = self.client.fetch(uids, ["BODY.PEEK[]"])
        except (IMAPClientAbortError, OSError):
            self.withheld.broke(uids[0], uids[-1])
            raise
        except IMAPClientError:
            if len(uids) == 1:
                self.withheld.put_aside(uids)
                return {}
            return {uid: raw for each in uids for uid, raw in self._fetch([each]).items()}
        bodies = {uid: parts.get(b"BODY[]") for uid, parts in got.items()}
        # Listed, but without its bytes: unlike one that was expunged meanwhile, it is there.
        self.withheld.put_aside([uid for uid in uids if uid in bodies and bodies[uid] is None])
        return {uid: raw for uid, raw in bodies.items() if raw is not None}

    def _ask_again(self, uid: int) -> bytes | None:
        self.withheld.asking(uid)
        try:
            got: Any = self.client.fetch([uid], ["BODY.PEEK[]"])
        except IMAPClientAbortError:
            raise
        except IMAPClientError:
            return None
        raw: bytes | None = got.get(uid, {}).get(b"BODY[]")
        return raw


def windows(client: IMAPClient, first: int, end: int) -> Iterator[list[int]]:
    """Yield the UIDs from ``first`` on, below ``end``, sorted, some thousands at a time.

    The windows widen where UIDs are sparse.  An ``end`` of 0 is not known.
    """
    if not end:
        # "n:*" names the last message even where its UID is below n.
        yield sorted(uid for uid in client.search(["UID", f"{first}:*"]) if uid >= first)
        return
    width = _WINDOW
    while first < end:
        last = min(first + width, end) - 1
        found = client.search(["UID", f"{first}:{last}"])
        yield sorted(uid for uid in found if first <= uid <= last)
        width = min(width * 2, _WIDEST) if len(found) < width // 10 else _WINDOW
        first = last + 1


def _batches(client: IMAPClient, uids: list[int]) -> Iterator[list[int]]:
    for start in range(0, len(uids), _SIZES_AT_ONCE):
        some = uids[start : start + _SIZES_AT_ONCE]
        sizes: Any = client.fetch(some, ["RFC822.SIZE"])
        batch: list[int] = []
        length = 0
        for uid in some:
            size = sizes.get(uid, {}).get(b"RFC822.SIZE", 0)
            if batch and (len(batch) == BATCH or length + size > BATCH_BYTES):
                yield batch
                batch, length = [], 0
            batch.append(uid)
            length += size
        if batch:
            yield batch
