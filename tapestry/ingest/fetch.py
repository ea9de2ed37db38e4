"""Results of the fetch of messages from a server, and the items that come of it.

listed numbers ─ fetch ─> FetchResult ─> items
                              └─> state (tapestry.ingest.unavailable) ─ due ─> fetched again
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from tapestry.core.errors import TapestryError
from tapestry.core.ports import SyncStates
from tapestry.ingest.large_message import RawMessage
from tapestry.ingest.stream import Item
from tapestry.ingest.unavailable import IN_A_ROW, MOST, STATE, Unavailable
from tapestry.servers.account import ConnectionLostError
from tapestry.tables.write.append import Cursor


class UnavailableError(TapestryError):
    """Some messages were not delivered, and no stored state will have them fetched again."""


@dataclass(frozen=True, slots=True)
class FetchResult:
    """The answer of a server to the fetch of one message.

    ``message`` is None if it is gone (expunged or expired) or ``unavailable``.
    ``server_fault`` is set if the answer may concern all messages, and not this one alone.
    """

    number: int
    message: RawMessage | None
    unavailable: bool = False
    server_fault: Exception | None = None


def hold_server_faults(results: Iterable[FetchResult], *, single: bool) -> Iterator[FetchResult]:
    """Yield results; hold back those that may be the server's fault until a message comes.

    If none comes, the first fault is raised.  The result of a ``single`` fetch is yielded as it is.
    """
    held_back: list[FetchResult] = []
    delivers = single
    for result in results:
        delivers = delivers or result.message is not None
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


@dataclass(slots=True)
class UnavailableMessages:
    """The unavailable messages of a folder while it is read; cursors are stored under ``origin``.

    Every change of ``state`` is stored at once, for the connection may be lost at any time.
    ``came_in_vain`` are those that could not be appended; ``is_renumbered`` is set while what is
    stored is of another numbering.

    Sync states that are not durable cannot have them fetched again.  With those the cursor
    stays before the first missing message.
    """

    sync_states: SyncStates
    folder: str
    numbering: int
    origin: str
    state: Unavailable = field(init=False)
    came_in_vain: set[int] = field(default_factory=set, init=False)
    is_renumbered: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.state = Unavailable(self.numbering)
        stored = self.sync_states.load(self.folder).get(STATE)
        if stored and stored["numbering"] == self.numbering:
            self.state = Unavailable.read(stored)
        self.is_renumbered = stored is not None and stored["numbering"] != self.numbering

    def note_loss(self, first: int, last: int) -> None:
        """Store that the connection was lost while these were fetched."""
        self._store(self.state.after_loss(first, last))

    def read(
        self, new_items: Iterator[Item], fetch_again: Callable[[int], FetchResult]
    ) -> Iterator[Item]:
        """Yield the new items of the folder, then the messages that come when fetched again.

        Raises UnavailableError at the end if messages are missing and the sync states are not
        durable.
        """
        if self.state.is_full:
            yield from self._retry(fetch_again)
        yield from new_items
        # The folder was read to its end without another loss of the connection; what was missing
        # under other numbers came with it.
        if self.state.trouble is not None or self.is_renumbered:
            self.is_renumbered = False
            self._store(replace(self.state, trouble=None))
        yield from self._retry(fetch_again)
        if self.state.missing and not self.sync_states.durable:
            raise UnavailableError(
                f"The server does not hand over everything in {self.folder}: of what it lists, "
                f"{len(self.state.missing)} could not be had.",
                hint="Run the same again: they are asked for again, and nothing comes twice.",
            )

    def _retry(self, fetch_again: Callable[[int], FetchResult]) -> Iterator[Item]:
        """Yield those messages that are due and come this time."""
        for number in self.state.due(time.time()):
            self._store(self.state.after_retry(number, time.time()))
            result = fetch_again(number)
            if result.message is not None:
                yield Item(result.message, self.origin, flush=True)
            if not result.unavailable and number not in self.came_in_vain:
                self._store(self.state.without(number))

    def note(self, result: FetchResult) -> None:
        """Store that a message came, or put it aside if it is unavailable.

        Raises ConnectionLostError, and puts nothing aside, where there are too many already.
        """
        if result.unavailable:
            if self.state.is_full:
                raise ConnectionLostError(
                    f"Too much of {self.folder} cannot be had: {len(self.state.missing)} messages, "
                    f"{self.state.in_a_row} of them in a row.",
                    hint="It is tried again later, from there; nothing is left out.",
                )
            self._store(self.state.after_refusal(result.number, time.time()))
        elif result.message is not None and self.state.in_a_row:
            self._store(replace(self.state, in_a_row=0))

    @property
    def putting_aside(self) -> Callable[[int], None] | None:
        """Return what puts aside a message that came in vain; None if none is fetched again."""
        return self._came_in_vain if self.sync_states.durable else None

    def _came_in_vain(self, number: int) -> None:
        self.came_in_vain.add(number)
        if number in self.state:
            return  # it was fetched again, and is due later
        if len(self.state.missing) >= MOST:
            raise UnavailableError(
                f"Too much of {self.folder} cannot be taken in: {MOST} messages.",
                hint="It is tried again later, from there; nothing is left out.",
            )
        self._store(self.state.with_missing(number, time.time()))

    def item_of(self, result: FetchResult, cursor: Cursor | None = None) -> Item:
        """Return the message of a result, with the cursor after it; see item."""
        return replace(self.item(result.number, cursor=cursor), message=result.message)

    def item(self, number: int, *, flush: bool = False, cursor: Cursor | None = None) -> Item:
        """Return an item without a message, with the cursor after a number.

        By default the cursor is the number; another is that of the first look.  If the cursor
        must stay, the item has none.
        """
        after = cursor or Cursor(self.origin, number)
        backlog = cursor is not None
        if not self.state.missing or self.sync_states.durable:
            return Item(None, after.source, after, flush, backlog)
        if not backlog:
            self._store(replace(self.state, through=number))
        return Item(None, after.source, None, flush, backlog)

    def _store(self, state: Unavailable) -> None:
        self.state = state
        stored = self.sync_states.load(self.folder) | {STATE: state.content()}
        self.sync_states.save(self.folder, stored)
