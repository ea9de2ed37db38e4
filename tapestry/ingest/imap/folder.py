"""The new messages of an IMAP folder, in memory that does not grow with the folder.

UIDs after the cursor ─ windows ─> UIDs ─ RFC822.SIZE ─> batches ─ BODY.PEEK[] ─> items
UIDs of the first look, downwards ─┘

UIDs ascend and are valid for one UIDVALIDITY; UIDNEXT bounds them (RFC 3501 and RFC 9051,
section 2.3.1.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from imapclient import IMAPClient
from imapclient.exceptions import IMAPClientAbortError, IMAPClientError

from tapestry.core.clock import to_instant
from tapestry.core.message import LARGEST
from tapestry.ingest.fetch import FetchResult, UnavailableMessages, hold_server_faults
from tapestry.ingest.first_look import FirstLook
from tapestry.ingest.large_message import BEGINNING, RawMessage
from tapestry.ingest.stream import Item
from tapestry.servers.account import MALFORMED, reading_reply
from tapestry.servers.imap import DELIVERED_KEYWORD, SERVER_FAULTS, unless_refused
from tapestry.servers.imap_flags import flags_to_keep

BATCH = 100
BATCH_BYTES = 16 * 1024 * 1024

_ATTRIBUTES = ["INTERNALDATE", "FLAGS"]

WANTED = ["BODY.PEEK[]", *_ATTRIBUTES]
"""Items that are fetched of a message."""

BEGINNING_WANTED = [f"BODY.PEEK[]<0.{BEGINNING}>", *_ATTRIBUTES]
"""Items that are fetched of a message that is too large."""

_SIZES_AT_ONCE = 2000
_WINDOW = 5000
_WIDEST = 1 << 16
"""UIDs that fit into a line of a response; the library reads lines up to a million bytes."""

_UNKNOWN_SIZE = BATCH_BYTES + 1
_CONNECTION_LOST = (IMAPClientAbortError, OSError, *MALFORMED)


@dataclass(frozen=True, slots=True)
class MailboxStatus:
    """A folder as it was when it was opened, in the terms of RFC 3501.

    ``uidnext`` and ``modseq`` (HIGHESTMODSEQ, RFC 7162) are 0 if the server does not send them.
    """

    name: str
    uidvalidity: int
    uidnext: int
    messages: int
    modseq: int = 0

    def at_most_after(self, uid: int) -> int:
        """Return an upper bound of the number of messages after a UID.

        >>> MailboxStatus("INBOX", 1, 91, 20).at_most_after(80)
        10
        """
        if not self.uidnext:
            return self.messages
        return max(0, min(self.messages, self.uidnext - 1 - uid))


@dataclass(slots=True)
class NewMessages:
    """The new messages of an opened folder.

    HIGHESTMODSEQ goes into the sync state: by it a later pull sees that nothing has changed.
    """

    client: IMAPClient
    mailbox: MailboxStatus
    unavailable: UnavailableMessages
    first_look: FirstLook | None = None

    def after(self, last: int) -> Iterator[Item]:
        """Yield the messages with a UID above ``last``, ascending, then those of the first look.

        At the end the cursor passes UIDs that were expunged, and unavailable messages that are
        due are fetched again.
        """
        yield from self.unavailable.read(self._new_items(last), self._fetch_again)
        version = {"uidvalidity": self.mailbox.uidvalidity, "modseq": self.mailbox.modseq}
        sync_states = self.unavailable.sync_states
        sync_states.save(self.mailbox.name, sync_states.load(self.mailbox.name) | version)

    def _new_items(self, last: int) -> Iterator[Item]:
        reached = last = max(last, self.unavailable.state.through)
        uidnext = self.mailbox.uidnext or uid_after_last(self.client, self.mailbox.messages)
        for result in self._results(windows(self.client, last + 1, uidnext)):
            reached = result.number
            yield self.unavailable.item_of(result)
        end = max(reached, uidnext - 1)
        if end > last:
            yield self.unavailable.item(end, flush=True)
        if self.first_look is not None:
            yield from self._older_items(self.first_look)

    def _older_items(self, look: FirstLook) -> Iterator[Item]:
        for result in self._results(windows(self.client, 1, look.below, downwards=True)):
            yield self.unavailable.item_of(result, look.cursor(result.number))
        if look.below > 1:
            yield self.unavailable.item(1, flush=True, cursor=look.cursor(1))

    def _results(self, uids_in_windows: Iterable[list[int]]) -> Iterator[FetchResult]:
        for uids in uids_in_windows:
            for batch in self._batches(uids):
                for result in self._fetch(*batch):
                    self.unavailable.note(result)
                    yield result

    def _batches(self, uids: list[int]) -> Iterator[tuple[list[int], int | None]]:
        """Yield UIDs in batches; a UID of unknown size, or in trouble, is a batch by itself.

        So is a message that is too large: its batch comes with its size.
        """
        uids = [uid for uid in uids if uid not in self.unavailable.state]
        for start in range(0, len(uids), _SIZES_AT_ONCE):
            chunk = uids[start : start + _SIZES_AT_ONCE]
            sizes = self._sizes(
                [uid for uid in chunk if not self.unavailable.state.in_trouble(uid)]
            )
            batch: list[int] = []
            length = 0
            for uid in chunk:
                size = sizes.get(uid, _UNKNOWN_SIZE)
                if size > LARGEST:
                    if batch:
                        yield batch, None
                    yield [uid], size
                    batch, length = [], 0
                    continue
                if batch and (len(batch) == BATCH or length + size > BATCH_BYTES):
                    yield batch, None
                    batch, length = [], 0
                batch.append(uid)
                length += size
            if batch:
                yield batch, None

    def _sizes(self, uids: list[int]) -> dict[int, int]:
        """Return sizes in bytes by UID, empty if the server cannot tell them."""
        response = unless_refused(self._fetch_attributes, uids, ["RFC822.SIZE"]) if uids else None
        if response is None:
            return {}
        return {uid: response.get(uid, {}).get(b"RFC822.SIZE") or 0 for uid in uids}

    def _fetch(self, uids: list[int], size: int | None = None) -> Iterator[FetchResult]:
        """Yield the results of fetching UIDs together or, if the server says NO, one by one.

        Of a message that is too large, which comes with its ``size``, the beginning is fetched.
        """
        if len(uids) > 1:
            response = unless_refused(self._fetch_attributes, uids, WANTED)
            if response is not None:
                yield from (_result(uid, response) for uid in uids)
                return
        results = (self._fetch_one(uid, size) for uid in uids)
        yield from hold_server_faults(results, single=len(uids) == 1)

    def _fetch_one(self, uid: int, size: int | None) -> FetchResult:
        if self.unavailable.state.is_hopeless(uid):
            return FetchResult(uid, None, unavailable=True)
        try:
            wanted = WANTED if size is None else BEGINNING_WANTED
            return _result(uid, self._fetch_attributes([uid], wanted), size)
        except IMAPClientAbortError:
            raise
        except IMAPClientError as error:
            is_fault = any(code in str(error).upper() for code in SERVER_FAULTS)
            return FetchResult(uid, None, True, server_fault=error if is_fault else None)

    def _fetch_attributes(self, uids: list[int], attributes: list[str]) -> dict[int, Any]:
        """Fetch attributes of messages; store for which the connection was lost."""
        try:
            response: dict[int, Any] = self.client.fetch(uids, attributes)
        except _CONNECTION_LOST:
            self.unavailable.note_loss(min(uids), max(uids))
            raise
        return response

    def _fetch_again(self, uid: int) -> FetchResult:
        size = self._sizes([uid]).get(uid, 0)
        whole = size if size > LARGEST else None
        wanted = WANTED if whole is None else BEGINNING_WANTED
        response = unless_refused(self.client.fetch, [uid], wanted)
        result = FetchResult(uid, None) if response is None else _result(uid, response, whole)
        is_there = result.message is None and uid in self.client.search(["UID", str(uid)])
        return replace(result, unavailable=is_there)


@reading_reply()
def _result(uid: int, response: Any, size: int | None = None) -> FetchResult:
    attributes = response.get(uid, {})
    raw = attributes.get(b"BODY[]" if size is None else b"BODY[]<0>")
    if raw is None:
        # A message that is listed without its bytes was not expunged: it is unavailable.
        return FetchResult(uid, None, unavailable=uid in response)
    named = attributes.get(b"FLAGS", ())
    flags = {flag.lower() for flag in named if isinstance(flag, bytes)}
    delivered = DELIVERED_KEYWORD.lower().encode() in flags
    instant, kept = _instant(attributes.get(b"INTERNALDATE")), flags_to_keep(named)
    return FetchResult(uid, RawMessage(raw, size, instant, delivered, kept, uid))


def _instant(received: object) -> int | None:
    """Return an INTERNALDATE as an instant; the library gives it in the machine's time zone."""
    if not isinstance(received, datetime):
        return None
    try:
        return to_instant(received.astimezone(UTC))
    except (ValueError, OverflowError):
        return None


def uid_after_last(client: IMAPClient, messages: int) -> int:
    """Return the UID after the last one of the open folder, for a server without UIDNEXT."""
    return max(client.search(["UID", "*"]), default=0) + 1 if messages else 1


def windows(
    client: IMAPClient, first: int, end: int, *, downwards: bool = False
) -> Iterator[list[int]]:
    """Yield the UIDs from ``first`` on, below ``end``, some thousands at a time.

    They ascend, or descend if ``downwards``.  The windows widen where UIDs are sparse.
    """
    width = _WINDOW
    while first < end:
        low, high = (
            (max(first, end - width), end) if downwards else (first, min(first + width, end))
        )
        response = client.search(["UID", f"{low}:{high - 1}"])
        yield sorted((uid for uid in response if low <= uid < high), reverse=downwards)
        width = min(width * 2, _WIDEST) if len(response) < width // 10 else _WINDOW
        first, end = (first, low) if downwards else (high, end)
