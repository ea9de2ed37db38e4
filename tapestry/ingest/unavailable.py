"""Unavailable messages: those that a server lists and does not deliver (a dead letter queue).

Some servers answer NO (RFC 5530: UNAVAILABLE), or drop the connection, whenever a message that
they cannot read is fetched.  It would block all messages after it.  So it is put aside, the
cursor goes on, and it is fetched again later with exponential backoff.  So is a message that this
program cannot append.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from tapestry.core.backoff import pause_after
from tapestry.core.errors import TapestryError
from tapestry.core.ports import SyncStates
from tapestry.ingest.stream import Item
from tapestry.servers.account import ConnectionLostError
from tapestry.tables.append import Cursor

MOST_LOSSES = 3
"""Times that the connection may be lost over one message before it is put aside."""

ASK_AGAIN, LONGEST_PAUSE = 60.0, 24 * 3600.0
"""Seconds before a message is fetched again, the first time and at most."""

MOST = 1000
"""Messages of a folder that can be put aside; after that the folder waits for them."""

IN_A_ROW = 20
"""Unavailable messages in a row that show a fault of the server, not of the messages."""

STATE = "withheld"
"""The key under which the messages are stored in the folder's sync state."""


class UnavailableError(TapestryError):
    """Some messages were not delivered, and no stored state will have them fetched again."""


@dataclass(frozen=True, slots=True)
class FetchResult:
    """The answer of a server to the fetch of one message.

    ``raw`` is None if the message is gone (expunged or expired) or ``unavailable``;
    ``internal_date`` is that of an IMAP server; ``delivered``, ``size``, ``flags`` as in Item.
    ``server_fault`` is set if the answer may concern all messages, and not this one alone.
    """

    number: int
    raw: bytes | None
    unavailable: bool = False
    server_fault: Exception | None = None
    internal_date: int | None = None
    delivered: bool = False
    size: int | None = None
    flags: tuple[str, ...] = ()


def hold_server_faults(results: Iterable[FetchResult], *, single: bool) -> Iterator[FetchResult]:
    """Yield results; hold back those that may be the server's fault until a message comes.

    If none comes, the first fault is raised.  The result of a ``single`` fetch is yielded as it is.
    """
    held_back: list[FetchResult] = []
    delivers = single
    for result in results:
        delivers = delivers or result.raw is not None
        if delivers or not (held_back or result.server_fault):
            yield from held_back
            yield result
            held_back = []
        else:
            held_back.append(result)
            if sum(earlier.unavailable for earlier in held_back) >= IN_A_ROW:
                break
    if held_back and held_back[0].server_fault:
        raise held_back[0].server_fault


def has_unavailable(sync_state: dict[str, Any]) -> bool:
    """Return whether a folder has messages to fetch again, by its sync state."""
    return unavailable_in(sync_state) > 0


def unavailable_in(sync_state: dict[str, Any]) -> int:
    """Return how many messages of a folder are to be fetched again, by its sync state."""
    return len(sync_state.get(STATE, {}).get("missing", ()))


@dataclass(slots=True)
class UnavailableMessages:
    """The unavailable messages of a folder, by UID or article number.

    Numbers mean the same messages for one ``numbering`` (UIDVALIDITY for IMAP); cursors are
    stored under ``origin``.  Every change is stored at once, for the connection may be lost at
    any time: ``trouble``, the first and last number that were fetched when it was lost, and the
    number of losses if that was one message; ``missing``, for each number how often it was
    fetched and when it is due again; ``in_a_row``, how many were put aside since a message came
    or one was fetched again.  ``came_in_vain`` are those that could not be appended;
    ``is_renumbered`` is set while what is stored is of another numbering.

    Sync states that are not durable cannot have them fetched again.  With those the cursor
    stays before the first missing message, and ``through`` is the last number of this process.
    """

    sync_states: SyncStates
    folder: str
    numbering: int
    origin: str
    trouble: list[int] | None = field(default=None, init=False)
    missing: dict[str, list[float]] = field(default_factory=dict, init=False)
    in_a_row: int = field(default=0, init=False)
    through: int = field(default=0, init=False)
    came_in_vain: set[int] = field(default_factory=set, init=False)
    is_renumbered: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        stored = self.sync_states.load(self.folder).get(STATE, {})
        self.is_renumbered = stored.get("numbering", self.numbering) != self.numbering
        if stored.get("numbering") == self.numbering:
            self.trouble, self.missing = stored["trouble"], dict(stored["missing"])
            self.in_a_row = stored.get("in_a_row", 0)
            self.through = stored.get("through", 0)

    def __contains__(self, number: int) -> bool:
        """Return whether this message was put aside."""
        return str(number) in self.missing

    @property
    def is_full(self) -> bool:
        """Whether no other message can be put aside before one of these comes."""
        return len(self.missing) >= MOST or self.in_a_row >= IN_A_ROW

    def in_trouble(self, number: int) -> bool:
        """Return whether the connection was lost over this message, by itself or in a batch."""
        return self.trouble is not None and self.trouble[0] <= number <= self.trouble[1]

    def is_hopeless(self, number: int) -> bool:
        """Return whether the connection was lost too often over this message."""
        trouble = self.trouble
        return trouble is not None and trouble[:2] == [number] * 2 and trouble[2] >= MOST_LOSSES

    def note_loss(self, first: int, last: int) -> None:
        """Store that the connection was lost while these were fetched."""
        losses = self.trouble[2] if self.trouble and self.trouble[:2] == [first, last] else 0
        self.trouble = [first, last, losses + 1 if first == last else 0]
        self._save()

    def read(
        self, new_items: Iterator[Item], fetch_again: Callable[[int], FetchResult]
    ) -> Iterator[Item]:
        """Yield the new items of the folder, then the messages that come when fetched again.

        Raises UnavailableError at the end if messages are missing and the sync states are not
        durable.
        """
        if self.is_full:
            yield from self._retry(fetch_again)
        yield from new_items
        # The folder was read to its end without another loss of the connection; what was missing
        # under other numbers came with it.
        if self.trouble is not None or self.is_renumbered:
            self.trouble, self.is_renumbered = None, False
            self._save()
        yield from self._retry(fetch_again)
        if self.missing and not self.sync_states.durable:
            raise UnavailableError(
                f"The server does not hand over everything in {self.folder}: of what it lists, "
                f"{len(self.missing)} could not be had.",
                hint="Run the same again: they are asked for again, and nothing comes twice.",
            )

    def _retry(self, fetch_again: Callable[[int], FetchResult]) -> Iterator[Item]:
        """Yield those messages that are due and come this time."""
        now = time.time()
        for number in [int(key) for key, (_, due_at) in self.missing.items() if due_at <= now]:
            times = int(self.missing[str(number)][0]) + 1
            due_at = time.time() + pause_after(times, ASK_AGAIN, LONGEST_PAUSE)
            self.missing[str(number)] = [times, due_at]
            self.in_a_row = 0
            self._save()
            result = fetch_again(number)
            if result.raw is not None:
                yield Item(
                    result.raw,
                    self.origin,
                    flush=True,
                    internal_date=result.internal_date,
                    delivered=result.delivered,
                    size=result.size,
                    flags=result.flags,
                    number=number,
                )
            if not result.unavailable and number not in self.came_in_vain:
                self.settle(number)

    def note(self, result: FetchResult) -> None:
        """Store that a message came, or put it aside if it is unavailable.

        Raises ConnectionLostError, and puts nothing aside, where there are too many already.
        """
        if result.unavailable:
            if self.is_full:
                raise ConnectionLostError(
                    f"Too much of {self.folder} cannot be had: {len(self.missing)} messages, "
                    f"{self.in_a_row} of them in a row.",
                    hint="It is tried again later, from there; nothing is left out.",
                )
            self.missing[str(result.number)] = [1, time.time() + ASK_AGAIN]
            self.in_a_row += 1
            self.trouble = None
            self._save()
        elif result.raw is not None and self.in_a_row:
            self.in_a_row = 0
            self._save()

    @property
    def putting_aside(self) -> Callable[[int], None] | None:
        """What puts a message aside that came in vain; None if it would not be fetched again."""
        return self._came_in_vain if self.sync_states.durable else None

    def _came_in_vain(self, number: int) -> None:
        self.came_in_vain.add(number)
        if number in self:
            return  # it was fetched again, and is due later
        if len(self.missing) >= MOST:
            raise UnavailableError(
                f"Too much of {self.folder} cannot be taken in: {len(self.missing)} messages.",
                hint="It is tried again later, from there; nothing is left out.",
            )
        self.missing[str(number)] = [1, time.time() + ASK_AGAIN]
        self._save()

    def settle(self, number: int) -> None:
        """Remove a message that came, or that is gone from the server."""
        del self.missing[str(number)]
        self._save()

    def item_of(self, result: FetchResult, cursor: Cursor | None = None) -> Item:
        """Return the message of a result, with the cursor after it; see item."""
        item = self.item(result.number, cursor=cursor)
        return replace(
            item,
            raw=result.raw,
            internal_date=result.internal_date,
            delivered=result.delivered,
            size=result.size,
            flags=result.flags,
            number=result.number,
        )

    def item(self, number: int, *, flush: bool = False, cursor: Cursor | None = None) -> Item:
        """Return an item without a message, with the cursor after a number.

        By default the cursor is the number; another is that of the first look.  If the cursor
        must stay, the item has none.
        """
        after = cursor or Cursor(self.origin, number)
        backlog = cursor is not None
        if not self.missing or self.sync_states.durable:
            return Item(None, after.source, after, flush, backlog=backlog)
        if not backlog:
            self.through = number
            self._save()
        return Item(None, after.source, None, flush, backlog=backlog)

    def _save(self) -> None:
        names = ("numbering", "trouble", "missing", "in_a_row", "through")
        stored = {name: getattr(self, name) for name in names}
        self.sync_states.save(self.folder, self.sync_states.load(self.folder) | {STATE: stored})
