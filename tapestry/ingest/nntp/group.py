"""The new articles of one newsgroup, and whether its server has numbered them anew."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tapestry.ingest.nntp.client import Client, NNTPError, code_of
from tapestry.ingest.nntp.token_bucket import TokenBucket
from tapestry.ingest.quoted_reply import is_plain
from tapestry.ingest.stream import Item, SyncStates
from tapestry.ingest.unavailable import FetchResult, UnavailableMessages, hold_server_faults

_WINDOW = 500
_WIDEST = 10_000
_MARKS = 8
_MOST_SEEN = 100_000
_NOT_THERE = (420, 423, 430)
_FOR_ALL = (0, 400, 480, 483, 502)
"""Answers after which the line is of no use."""

_FAULT = 403
"""The answer that something is wrong with the server: with one article, or with all."""


@dataclass(frozen=True, slots=True)
class NewsgroupStatus:
    """A group as its server tells of it: about how many articles, and their numbers."""

    name: str
    count: int
    first: int
    last: int

    def at_most_after(self, last: int) -> int:
        """Return how many articles can be new, at most, after a number."""
        return max(0, self.last - max(last, self.first - 1))


@dataclass(slots=True)
class NewArticles:
    """What is new in a group that was entered."""

    client: Client
    group: NewsgroupStatus
    origin: str
    numbering: int
    rate_limit: TokenBucket
    seen_ids: set[str]
    sync_states: SyncStates
    unavailable: UnavailableMessages = field(init=False)

    def __post_init__(self) -> None:
        self.unavailable = UnavailableMessages(self.sync_states, self.group.name, self.numbering)

    def after(self, last: int) -> Iterator[Item]:
        """Yield the articles numbered above ``last``, lowest first; the cursor passes gaps.

        At the end those that could not be had before are asked for again.
        """
        if self.unavailable.is_full:
            yield from self._retry_unavailable()
        width = _WINDOW
        start = max(last + 1, self.unavailable.through + 1, self.group.first)
        while start <= self.group.last:
            end = min(start + width - 1, self.group.last)
            listed = list(_overview(self.client, start, end))
            self._remember(listed)
            new = [each for each in listed if each[0] not in self.unavailable]
            answers = (self._answer(number, msgid) for number, msgid in new)
            for answer in hold_server_faults(answers, trusted=len(new) == 1):
                self.unavailable.note(answer)
                yield self._item(answer.raw, answer.number)
            yield self._item(None, end)
            width = min(width * 2, _WIDEST) if len(listed) < width // 10 else _WINDOW
            start = end + 1

        self.unavailable.all_is_well()
        yield from self._retry_unavailable()
        self.unavailable.must_be_empty()

    def _item(self, raw: bytes | None, number: int) -> Item:
        return Item(raw, self.origin, self.unavailable.cursor(self.origin, number))

    def _retry_unavailable(self) -> Iterator[Item]:
        """Yield those that could not be had before and are due by now."""
        for number in self.unavailable.due():
            self.unavailable.asking(number)
            answer = self._ask(number)
            if answer.raw is not None:
                yield Item(answer.raw, self.origin, now=True)
            if not answer.unavailable:
                self.unavailable.settle(number)

    def _answer(self, number: int, msgid: str) -> FetchResult:
        """Return an article, or nothing if it was taken, has expired, or is withheld."""
        if msgid in self.seen_ids:
            return FetchResult(number, None)
        if self.unavailable.is_hopeless(number):
            return FetchResult(number, None, unavailable=True)
        try:
            answer = self._ask(number)
        except (NNTPError, OSError, EOFError, ValueError, LookupError, TypeError, MemoryError):
            self.unavailable.broke(number, number)
            raise
        self._note_seen(answer.raw, msgid)
        return answer

    def _note_seen(self, raw: bytes | None, msgid: str) -> None:
        if raw is not None and msgid:
            if len(self.seen_ids) >= _MOST_SEEN:
                self.seen_ids.clear()
            self.seen_ids.add(msgid)

    def _ask(self, number: int) -> FetchResult:
        self.rate_limit.acquire()
        raw = io.BytesIO()
        try:
            self.client.article(number, file=raw)
        except NNTPError as error:
            code = code_of(error)
            if code in _FOR_ALL:
                raise
            about_all = error if code == _FAULT else None
            return FetchResult(number, None, code not in _NOT_THERE, about_all)
        return FetchResult(number, raw.getvalue())

    def _remember(self, listed: list[tuple[int, str]]) -> None:
        """Remember which article some numbers mean, before any is taken.

        Those of the numbering before are kept: whoever dies before the first append of this
        one finds that one again.
        """
        named = [each for each in listed if each[1]]
        if not named:
            return
        marks = [*named[:: max(1, len(named) // _MARKS)], named[-1]]
        before = self.sync_states.load(self.group.name).get("marks", {})
        kept = dict(map(tuple, before.get(str(self.numbering), ())))
        latest = sorted((kept | dict(marks)).items())[-2 * _MARKS :]
        older = str(self.numbering - 1)
        both = {older: before[older]} if older in before else {}
        marks_by_numbering = both | {str(self.numbering): latest}
        self.sync_states.save(
            self.group.name,
            self.sync_states.load(self.group.name) | {"marks": marks_by_numbering},
        )


def renumbered(
    client: Client, group: NewsgroupStatus, last: int, numbering: int, sync_states: SyncStates
) -> bool:
    """Tell whether the numbers of an entered group mean other articles than they did.

    The highest number never falls (RFC 3977, section 6.1.1), but where they do.  Else an
    article that was seen decides: it has another Message-ID now.
    """
    if not last:
        return False
    marks: list[Any] = sync_states.load(group.name).get("marks", {}).get(str(numbering), [])
    if group.last < max([last, *(number for number, _msgid in marks)]):
        return True
    for number, msgid in reversed(marks):
        found = _id_of(client, number) if number >= group.first else None
        if found is not None:
            return bool(found != msgid)
    return False


def _id_of(client: Client, number: int) -> str | None:
    try:
        _answer, _number, msgid = client.stat(number)
    except NNTPError as error:
        if code_of(error) in _NOT_THERE:
            return None
        raise
    return str(msgid)


def _overview(client: Client, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Yield number and Message-ID of the articles there are between two numbers, in order.

    The Message-ID is empty where there is none, or none that can be remembered.
    """
    try:
        _answer, listed = client.over((start, end))
    except (NNTPError, ValueError) as error:
        code = code_of(error) if isinstance(error, NNTPError) else 0
        if code in _NOT_THERE:
            return
        if code not in (0, 500, 501, 503):
            raise
        # No overview, or one that cannot be read: every number is asked for by itself.
        yield from ((number, "") for number in range(start, end + 1))
        return
    known = {number: heads.get("message-id") or "" for number, heads in listed}
    yield from (
        (number, msgid if is_plain(msgid) else "")
        for number, msgid in sorted(known.items())
        if start <= number <= end
    )
