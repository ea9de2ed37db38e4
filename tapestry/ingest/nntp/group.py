"""The new articles of a newsgroup, and whether its server has renumbered them (RFC 3977)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tapestry.core.ports import SyncStates
from tapestry.ingest.fetch import FetchResult, UnavailableMessages, hold_server_faults
from tapestry.ingest.first_look import FirstLook
from tapestry.ingest.large_message import MessageBytes, RawMessage
from tapestry.ingest.nntp.token_bucket import TokenBucket
from tapestry.ingest.stream import Item
from tapestry.servers.account import MALFORMED
from tapestry.servers.nntp import Client, NNTPError, code_of
from tapestry.servers.quoted_reply import is_plain

_WINDOW = 500
_WIDEST = 10_000
_MARKS = 8
_MOST_SEEN = 100_000

_NO_ARTICLE = (420, 423, 430)
_SESSION_OVER = (0, 400, 480, 483, 502)
"""Response codes after which the session is of no use."""

_FAULT = 403
"""The response code of an internal fault: of one article, or of the server."""


@dataclass(frozen=True, slots=True)
class NewsgroupStatus:
    """A newsgroup as its server reports it: an estimated count, low and high water mark."""

    name: str
    count: int
    low: int
    high: int

    def at_most_after(self, number: int) -> int:
        """Return an upper bound of the number of articles after an article number.

        >>> NewsgroupStatus("a.b", 3, 5, 9).at_most_after(7)
        2
        """
        return max(0, self.high - max(number, self.low - 1))


@dataclass(slots=True)
class NewArticles:
    """The new articles of a newsgroup that was entered."""

    client: Client
    group: NewsgroupStatus
    unavailable: UnavailableMessages
    rate_limit: TokenBucket
    seen_ids: set[str]
    first_look: FirstLook | None = None

    def after(self, last: int) -> Iterator[Item]:
        """Yield the articles numbered above ``last``, ascending, then those of the first look.

        The cursors pass gaps.  At the end the unavailable articles that are due are fetched again.
        """
        return self.unavailable.read(self._new_items(last), self._fetch)

    def _new_items(self, last: int) -> Iterator[Item]:
        width = _WINDOW
        start = max(last + 1, self.unavailable.state.through + 1, self.group.low)
        while start <= self.group.high:
            end = min(start + width - 1, self.group.high)
            overview = list(_overview(self.client, start, end))
            for result in self._results(overview):
                yield self.unavailable.item_of(result)
            yield self.unavailable.item(end)
            width = _next_width(width, len(overview))
            start = end + 1
        if self.first_look is not None:
            yield from self._older_items(self.first_look)

    def _older_items(self, look: FirstLook) -> Iterator[Item]:
        width = _WINDOW
        end = look.below
        while end > self.group.low:
            start = max(self.group.low, end - width)
            overview = list(_overview(self.client, start, end - 1))[::-1]
            for result in self._results(overview):
                yield self.unavailable.item_of(result, look.cursor(result.number))
            yield self.unavailable.item(start, cursor=look.cursor(start))
            width = _next_width(width, len(overview))
            end = start
        if look.below > 1:
            yield self.unavailable.item(1, cursor=look.cursor(1))

    def _results(self, overview: list[tuple[int, str]]) -> Iterator[FetchResult]:
        self._save_marks(overview)
        new = [
            (number, msgid) for number, msgid in overview if number not in self.unavailable.state
        ]
        results = (self._fetch_new(number, msgid) for number, msgid in new)
        for result in hold_server_faults(results, single=len(new) == 1):
            self.unavailable.note(result)
            yield result

    def _fetch_new(self, number: int, msgid: str) -> FetchResult:
        """Fetch an article, unless it came with another group or was lost too often."""
        if msgid in self.seen_ids:
            return FetchResult(number, None)
        if self.unavailable.state.is_hopeless(number):
            return FetchResult(number, None, unavailable=True)
        try:
            result = self._fetch(number)
        except (NNTPError, OSError, EOFError, *MALFORMED):
            self.unavailable.note_loss(number, number)
            raise
        if result.message is not None and msgid:
            if len(self.seen_ids) >= _MOST_SEEN:
                self.seen_ids.clear()
            self.seen_ids.add(msgid)
        return result

    def _fetch(self, number: int) -> FetchResult:
        self.rate_limit.acquire()
        article: Any = MessageBytes()
        try:
            self.client.article(number, file=article)
        except NNTPError as error:
            code = code_of(error)
            if code in _SESSION_OVER:
                raise
            fault = error if code == _FAULT else None
            return FetchResult(number, None, code not in _NO_ARTICLE, fault)
        return FetchResult(number, RawMessage(article.raw, article.size, number=number))

    def _save_marks(self, overview: list[tuple[int, str]]) -> None:
        """Save the Message-IDs of some articles in the sync state, before they are fetched.

        The marks of the previous numbering stay, for a process that dies before the first append
        of this one.
        """
        with_id = [(number, msgid) for number, msgid in overview if msgid]
        if not with_id:
            return
        marks = [*with_id[:: max(1, len(with_id) // _MARKS)], with_id[-1]]
        sync_states, numbering = self.unavailable.sync_states, self.unavailable.numbering
        sync_state = sync_states.load(self.group.name)
        stored = sync_state.get("marks", {})
        of_this = dict(map(tuple, stored.get(str(numbering), ())))
        latest = sorted((of_this | dict(marks)).items())[-2 * _MARKS :]
        before = str(numbering - 1)
        of_before = {before: stored[before]} if before in stored else {}
        all_marks = of_before | {str(numbering): latest}
        sync_states.save(self.group.name, sync_state | {"marks": all_marks})


def _next_width(width: int, found: int) -> int:
    """Return how many numbers to ask for next: more where articles are sparse."""
    return min(width * 2, _WIDEST) if found < width // 10 else _WINDOW


def renumbered(
    client: Client, group: NewsgroupStatus, last: int, numbering: int, sync_states: SyncStates
) -> bool:
    """Return whether article numbers of a group name other articles than they did.

    The high water mark never falls (RFC 3977, section 6.1.1.2) unless the server renumbers.
    Otherwise the newest marked article that is still there decides, by its Message-ID.
    """
    if not last:
        return False
    marks: list[Any] = sync_states.load(group.name).get("marks", {}).get(str(numbering), [])
    if group.high < max([last, *(number for number, _msgid in marks)]):
        return True
    for number, msgid in reversed(marks):
        current = _id_of(client, number) if number >= group.low else None
        if current is not None:
            return bool(current != msgid)
    return False


def _id_of(client: Client, number: int) -> str | None:
    try:
        _response, _number, msgid = client.stat(number)
    except NNTPError as error:
        if code_of(error) in _NO_ARTICLE:
            return None
        raise
    return str(msgid)


def _overview(client: Client, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Yield number and Message-ID, empty if it cannot be stored, of a range of articles (OVER)."""
    try:
        _response, overviews = client.over((start, end))
    except (NNTPError, ValueError) as error:
        code = code_of(error) if isinstance(error, NNTPError) else 0
        if code in _NO_ARTICLE:
            return
        if code not in (0, 500, 501, 503):
            raise
        # No overview, or an unreadable one: every number is fetched.
        yield from ((number, "") for number in range(start, end + 1))
        return
    msgids = {number: fields.get("message-id") or "" for number, fields in overviews}
    for number, msgid in sorted(msgids.items()):
        if start <= number <= end:
            yield number, msgid if is_plain(msgid) else ""
