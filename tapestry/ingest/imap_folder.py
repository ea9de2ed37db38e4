"""The new messages of one IMAP folder, in memory that does not grow with the folder.

UIDs after the cursor ─ windows ─> UIDs ─ sizes ─> batches ─ BODY.PEEK[] ─> items
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from imapclient import IMAPClient
from imapclient.exceptions import IMAPClientAbortError, IMAPClientError

from tapestry.ingest.backoff import pause_after
from tapestry.ingest.source import Item, Memory
from tapestry.tables.append import Cursor

BATCH = 100
BATCH_BYTES = 16 * 1024 * 1024

_SIZES_AT_ONCE = 2000
_WINDOW = 5000
_WIDEST = 1 << 20
_MISSING = 1000
_BREAKS = 3
"""Times that the line may break over one message before it is put aside."""

_ASK_AGAIN, _LONGEST = 60.0, 24 * 3600.0


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

    Beside the cursor three things are remembered, at once when they change: ``modseq``, by
    which a later pull sees that nothing changed; ``trouble``, the UIDs that were asked for
    when the line broke, and how often; ``missing``, those that could not be had, how often
    they were asked for, and when they will be again.
    """

    client: IMAPClient
    folder: Folder
    origin: str
    memory: Memory
    now: Callable[[], float] = time.time
    _what: dict[str, Any] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        before = self.memory.recall(self.folder.name)
        same = before.get("uidvalidity") == self.folder.validity
        self._what = {
            "uidvalidity": self.folder.validity,
            "trouble": before.get("trouble") if same else None,
            "missing": dict(before.get("missing", {})) if same else {},
        }

    def after(self, last: int) -> Iterator[Item]:
        """Yield the messages with a UID above ``last``, lowest first.

        At the end the cursor passes UIDs that vanished, and those that could not be had
        before are asked for again.
        """
        reached = last
        for uids in windows(self.client, last + 1, self.folder.next):
            for batch in _batches(self.client, uids):
                for part in self._carefully(batch):
                    bodies = self._fetch(part)
                    for uid in part:
                        reached = uid
                        yield Item(bodies.pop(uid, None), self.origin, Cursor(self.origin, uid))
        end = max(reached, self.folder.next - 1)
        if end > last:
            yield Item(None, self.origin, Cursor(self.origin, end), now=True)
        for uid in self._due():
            raw = self._ask_again(uid)
            if raw is not None:
                yield Item(raw, self.origin, now=True)
            if raw is not None or not self._is_there(uid):
                del self._what["missing"][str(uid)]
        self._remember(trouble=None, modseq=self.folder.modseq)

    def _remember(self, **what: Any) -> None:
        self._what.update(what)
        self.memory.remember(self.folder.name, self._what)

    def _carefully(self, batch: list[int]) -> list[list[int]]:
        """Return a batch whole, or one by one if the line broke in it."""
        trouble = self._what["trouble"]
        if trouble and trouble[0] <= batch[-1] and batch[0] <= trouble[1]:
            return [[uid] for uid in batch]
        return [batch]

    def _fetch(self, uids: list[int]) -> dict[int, bytes]:
        """Return bodies by UID; put aside those that the server lists but will not hand over."""
        trouble = self._what["trouble"]
        if trouble and trouble[:2] == [uids[0], uids[-1]] and trouble[2] >= _BREAKS:
            self._put_aside(uids)
            return {}
        try:
            got: Any = self.client.fetch(uids, ["BODY.PEEK[]"])
        except (IMAPClientAbortError, OSError):
            # Some hang up on whoever asks for a message that they cannot read.
            again = trouble[2] if trouble and trouble[:2] == [uids[0], uids[-1]] else 0
            single = len(uids) == 1
            self._remember(trouble=[uids[0], uids[-1], again + 1 if single else 0])
            raise
        except IMAPClientError:
            if len(uids) == 1:
                self._put_aside(uids)
                return {}
            return {uid: raw for each in uids for uid, raw in self._fetch([each]).items()}
        bodies = {uid: parts.get(b"BODY[]") for uid, parts in got.items()}
        # Listed, but without its bytes: unlike one that was expunged meanwhile, it is there.
        self._put_aside([uid for uid in uids if uid in bodies and bodies[uid] is None])
        return {uid: raw for uid, raw in bodies.items() if raw is not None}

    def _put_aside(self, uids: list[int]) -> None:
        if not uids:
            return
        missing = self._what["missing"]
        missing.update({str(uid): [1, self.now() + _ASK_AGAIN] for uid in uids})
        for oldest in list(missing)[:-_MISSING]:
            del missing[oldest]
        self._remember(trouble=None)

    def _due(self) -> list[int]:
        now = self.now()
        return [int(uid) for uid, (_times, at) in self._what["missing"].items() if at <= now]

    def _ask_again(self, uid: int) -> bytes | None:
        """Return a message that could not be had before; the longer it could not, the rarer."""
        times, _at = self._what["missing"][str(uid)]
        pause = pause_after(times + 1, _ASK_AGAIN, _LONGEST)
        # Before asking: the line may break again.
        self._what["missing"][str(uid)] = [times + 1, self.now() + pause]
        self._remember()
        try:
            got: Any = self.client.fetch([uid], ["BODY.PEEK[]"])
        except IMAPClientAbortError:
            raise
        except IMAPClientError:
            return None
        raw: bytes | None = got.get(uid, {}).get(b"BODY[]")
        return raw

    def _is_there(self, uid: int) -> bool:
        return uid in self.client.search(["UID", str(uid)])


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
