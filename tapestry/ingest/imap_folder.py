"""The new messages of one IMAP folder, in memory that does not grow with the folder.

UIDs after the cursor ─ windows ─> UIDs ─ sizes ─> batches ─ BODY.PEEK[] ─> items
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from imapclient import IMAPClient
from imapclient.exceptions import IMAPClientAbortError, IMAPClientError

from tapestry.ingest.source import Item, Memory
from tapestry.tables.append import Cursor

BATCH = 100
BATCH_BYTES = 16 * 1024 * 1024

_SIZES_AT_ONCE = 2000
_WINDOW = 5000
_WIDEST = 1 << 20
_MISSING = 1000


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


def new_items(
    client: IMAPClient, folder: Folder, origin: str, last: int, memory: Memory
) -> Iterator[Item]:
    """Yield the messages of the opened folder with a UID above ``last``, lowest first.

    A message that the server lists but will not hand over is remembered, passed by, and
    asked for again with the next pull.  At the end the cursor passes UIDs that vanished.
    """
    before = memory.recall(folder.name)
    same = before.get("uidvalidity") == folder.validity
    missing: list[int] = list(before.get("missing", ())) if same else []
    what: dict[str, Any] = {"uidvalidity": folder.validity, "missing": missing}
    for uid in list(missing):
        raw, is_there = _one(client, uid)
        if raw is not None:
            yield Item(raw, origin, now=True)
        if raw is not None or not is_there:
            missing.remove(uid)
    reached = last
    for uids in windows(client, last + 1, folder.next):
        for batch in _batches(client, uids):
            bodies, withheld = _fetch(client, batch)
            if withheld:
                missing += withheld
                del missing[:-_MISSING]
                memory.remember(folder.name, what)
            for uid in batch:
                reached = uid
                yield Item(bodies.pop(uid, None), origin, Cursor(origin, uid))
    end = max(reached, folder.next - 1)
    if end > last:
        yield Item(None, origin, Cursor(origin, end), now=True)
    memory.remember(folder.name, what | {"modseq": folder.modseq})


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


def _fetch(client: IMAPClient, batch: list[int]) -> tuple[dict[int, bytes], list[int]]:
    """Return the bodies by UID, and the UIDs of those that the server withholds."""
    try:
        got: Any = client.fetch(batch, ["BODY.PEEK[]"])
    except IMAPClientAbortError:
        raise
    except IMAPClientError:
        return _one_by_one(client, batch)
    bodies = {uid: parts[b"BODY[]"] for uid, parts in got.items() if b"BODY[]" in parts}
    bodies = {uid: raw for uid, raw in bodies.items() if raw is not None}
    # Listed, but without its bytes: unlike one that was expunged meanwhile, it is there.
    return bodies, [uid for uid in batch if uid in got and uid not in bodies]


def _one_by_one(client: IMAPClient, batch: list[int]) -> tuple[dict[int, bytes], list[int]]:
    bodies: dict[int, bytes] = {}
    withheld = []
    for uid in batch:
        raw, is_there = _one(client, uid)
        if raw is not None:
            bodies[uid] = raw
        elif is_there:
            withheld.append(uid)
    return bodies, withheld


def _one(client: IMAPClient, uid: int) -> tuple[bytes | None, bool]:
    """Return a message's bytes if they are to be had, and whether it is there at all."""
    try:
        got: Any = client.fetch([uid], ["BODY.PEEK[]"])
    except IMAPClientAbortError:
        raise
    except IMAPClientError:
        return None, True
    return got.get(uid, {}).get(b"BODY[]"), uid in got
