"""The new messages of one IMAP folder, in memory that does not grow with the folder.

UIDs after the cursor ─ windows ─> UIDs ─ sizes ─> batches ─ BODY.PEEK[] ─> items
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from imapclient import IMAPClient
from imapclient.exceptions import IMAPClientAbortError, IMAPClientError

from tapestry.ingest.stream import Item, SyncStates
from tapestry.ingest.unavailable import FetchResult, UnavailableMessages, hold_server_faults

BATCH = 100
BATCH_BYTES = 16 * 1024 * 1024

LATER = ("[UNAVAILABLE]", "[INUSE]", "[LIMIT]", "[SERVERBUG]")
"""Codes of answers that are about more than what was asked for (RFC 5530)."""

_SIZES_AT_ONCE = 2000
_WINDOW = 5000
_WIDEST = 1 << 16
"""The library takes no line of more than a million bytes, so many UIDs fit into one."""

_ALONE = BATCH_BYTES + 1
_BREAKING = (
    IMAPClientAbortError,
    OSError,
    ValueError,
    LookupError,
    TypeError,
    MemoryError,
    OverflowError,
)


@dataclass(frozen=True, slots=True)
class MailboxStatus:
    """A folder as it stood when it was opened.

    ``uidnext`` is the UID that its next message will have, 0 where the server does not say;
    ``modseq`` counts its changes, 0 where the server does not.
    """

    name: str
    uidvalidity: int
    uidnext: int
    messages: int
    modseq: int = 0

    def at_most_after(self, last: int) -> int:
        """Return how many messages can be new, at most, after a UID.

        >>> Folder("INBOX", 1, 91, 20).at_most_after(80)
        10
        """
        if not self.uidnext:
            return self.messages
        return max(0, min(self.messages, self.uidnext - 1 - last))


@dataclass(slots=True)
class NewMessages:
    """What is new in a folder that was opened; ``origin`` names it in cursors.

    ``modseq`` is remembered beside the cursor: by it a later pull sees that nothing changed.
    """

    client: IMAPClient
    mailbox: MailboxStatus
    origin: str
    sync_states: SyncStates
    unavailable: UnavailableMessages = field(init=False)

    def __post_init__(self) -> None:
        self.unavailable = UnavailableMessages(
            self.sync_states, self.mailbox.name, self.mailbox.uidvalidity
        )

    def after(self, last: int) -> Iterator[Item]:
        """Yield the messages with a UID above ``last``, lowest first.

        At the end the cursor passes UIDs that vanished, and those that could not be had
        before are asked for again.
        """
        if self.unavailable.is_full:
            yield from self._retry_unavailable()
        reached = last = max(last, self.unavailable.through)
        uidnext = self.mailbox.uidnext or self._uid_after_last()
        for uids in windows(self.client, last + 1, uidnext):
            for batch in self._batches(uids):
                for answer in self._fetch(batch):
                    self.unavailable.note(answer)
                    reached = answer.number
                    yield self._item(answer.raw, reached)
        end = max(reached, uidnext - 1)
        if end > last:
            yield replace(self._item(None, end), now=True)
        self.unavailable.all_is_well()
        yield from self._retry_unavailable()
        self.unavailable.must_be_empty()
        standing = {"uidvalidity": self.mailbox.uidvalidity, "modseq": self.mailbox.modseq}
        self.sync_states.save(
            self.mailbox.name, self.sync_states.load(self.mailbox.name) | standing
        )

    def _item(self, raw: bytes | None, uid: int) -> Item:
        return Item(raw, self.origin, self.unavailable.cursor(self.origin, uid))

    def _uid_after_last(self) -> int:
        """Return the UID after the last, where the server does not say what the next will be."""
        if not self.mailbox.messages:
            return 1
        return max(self.client.search(["UID", "*"]), default=0) + 1

    def _batches(self, uids: list[int]) -> Iterator[list[int]]:
        """Yield the UIDs in batches, alone those of unknown size or over which the line broke."""
        uids = [uid for uid in uids if uid not in self.unavailable]
        for start in range(0, len(uids), _SIZES_AT_ONCE):
            some = uids[start : start + _SIZES_AT_ONCE]
            sizes = self._sizes([uid for uid in some if not self.unavailable.broke_near(uid)])
            batch: list[int] = []
            length = 0
            for uid in some:
                size = sizes.get(uid, _ALONE)
                if batch and (len(batch) == BATCH or length + size > BATCH_BYTES):
                    yield batch
                    batch, length = [], 0
                batch.append(uid)
                length += size
            if batch:
                yield batch

    def _sizes(self, uids: list[int]) -> dict[int, int]:
        """Return sizes by UID, none where the server cannot tell that of each."""
        if not uids:
            return {}
        try:
            told = self._asked(uids, "RFC822.SIZE")
        except IMAPClientAbortError:
            raise
        except IMAPClientError:
            return {}
        return {uid: told.get(uid, {}).get(b"RFC822.SIZE") or 0 for uid in uids}

    def _fetch(self, uids: list[int]) -> Iterator[FetchResult]:
        """Yield what the server answers for each, all at once or, if it says NO, one by one."""
        if len(uids) > 1:
            try:
                got = self._asked(uids, "BODY.PEEK[]")
            except IMAPClientAbortError:
                raise
            except IMAPClientError:
                pass
            else:
                for uid in uids:
                    raw = got.get(uid, {}).get(b"BODY[]")
                    # Listed, but without its bytes: unlike one that was expunged, it is there.
                    yield FetchResult(uid, raw, unavailable=raw is None and uid in got)
                return
        yield from hold_server_faults(map(self._fetch_one, uids), trusted=len(uids) == 1)

    def _fetch_one(self, uid: int) -> FetchResult:
        if self.unavailable.is_hopeless(uid):
            return FetchResult(uid, None, unavailable=True)
        try:
            got = self._asked([uid], "BODY.PEEK[]")
        except IMAPClientAbortError:
            raise
        except IMAPClientError as error:
            about_all = any(code in str(error).upper() for code in LATER)
            return FetchResult(uid, None, unavailable=True, about_all=error if about_all else None)
        raw = got.get(uid, {}).get(b"BODY[]")
        return FetchResult(uid, raw, unavailable=raw is None and uid in got)

    def _asked(self, uids: list[int], what: str) -> dict[int, Any]:
        """Fetch this of each; where the line breaks, write down over which."""
        try:
            got: dict[int, Any] = self.client.fetch(uids, [what])
        except _BREAKING:
            self.unavailable.broke(uids[0], uids[-1])
            raise
        return got

    def _retry_unavailable(self) -> Iterator[Item]:
        """Yield those that could not be had before and are due by now."""
        for uid in self.unavailable.due():
            raw = self._fetch_again(uid)
            if raw is not None:
                yield Item(raw, self.origin, now=True)
            if raw is not None or uid not in self.client.search(["UID", str(uid)]):
                self.unavailable.settle(uid)

    def _fetch_again(self, uid: int) -> bytes | None:
        self.unavailable.asking(uid)
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

    The windows widen where UIDs are sparse.
    """
    width = _WINDOW
    while first < end:
        last = min(first + width, end) - 1
        found = client.search(["UID", f"{first}:{last}"])
        yield sorted(uid for uid in found if first <= uid <= last)
        width = min(width * 2, _WIDEST) if len(found) < width // 10 else _WINDOW
        first = last + 1
