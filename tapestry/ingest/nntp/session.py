"""A news server: groups by name or pattern, articles by number.

LIST ACTIVE ─> groups ─ GROUP ─> range ─ OVER ─> numbers and ids ─ ARTICLE ─> items
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tapestry.core.errors import TapestryError
from tapestry.ingest.account import TIMEOUT, Account
from tapestry.ingest.nntp.client import Client, NNTPError, code_of, connected, explained
from tapestry.ingest.nntp.group import NewArticles, NewsgroupStatus, renumbered
from tapestry.ingest.nntp.token_bucket import TokenBucket
from tapestry.ingest.nntp.wildmat import check_pattern, is_pattern, matches
from tapestry.ingest.quoted_reply import is_plain
from tapestry.ingest.stream import CursorOf, Item, ListedFolder, MessageStream, SyncStates
from tapestry.ingest.unavailable import has_unavailable

ARTICLES_PER_SECOND = 50.0
"""Articles asked of a server in a second, after the first hundred."""

MOST_GROUPS = 5000

FEW_GROUPS = 50
"""So many are each asked for at every pull.  Of more, those whose last number is as it was
are left alone if nothing is withheld there; should their articles have been numbered anew,
the next to come will tell."""

_LONGEST_COMMAND = 480


@dataclass(slots=True)
class NntpSession:
    """A session with a news server.

    ``seen_ids`` are the Message-IDs of this session: an article that was posted to several
    groups is fetched with the first of them, and names them all itself.
    """

    account: Account
    client: Client
    rate_limit: TokenBucket
    seen_ids: set[str] = field(default_factory=set)
    active: dict[str, NewsgroupStatus] = field(default_factory=dict)

    def list_folders(self, patterns: Sequence[str] = ("*",)) -> list[ListedFolder]:
        """Return the groups that names and patterns stand for, with about how much is in them."""
        return [ListedFolder(group.name, group.count) for group in self._matching(patterns)]

    def expand(self, patterns: Sequence[str]) -> list[str]:
        """Return the groups that names and patterns stand for, by name."""
        for pattern in patterns:
            check_pattern(pattern)
        if not any(map(is_pattern, patterns)):
            return list(dict.fromkeys(patterns))
        found = self._matching(patterns)
        if len(found) > MOST_GROUPS:
            raise TapestryError(
                f"{', '.join(patterns)[:200]} stands for {len(found)} groups "
                f"of {self.account.host}.",
                hint=f"Name fewer: at most {MOST_GROUPS} can be pulled from one source.",
            )
        self.active = {group.name: group for group in found}
        # One that is named in full is looked for, and missed, even where it is not listed.
        named = [name for name in patterns if not is_pattern(name)]
        return list(dict.fromkeys([*named, *self.active]))

    def open(
        self, newsgroup: str, audience: str, cursor_of: CursorOf, sync_states: SyncStates
    ) -> MessageStream:
        """Return a group, its items the articles after its cursor, by number.

        The cursor belongs to one numbering: a server that numbers its articles anew begins
        another, which is read from its start, and what is known is not added again.
        """
        address = f"{self.account.address}/{newsgroup}"
        numbering = _numbering(address, audience, cursor_of)
        origin = _origin(address, numbering, audience)
        stored = cursor_of(origin)
        last = stored.version if stored else 0
        listed = self.active.get(newsgroup)
        quiet = listed is not None and listed.last == last and len(self.active) > FEW_GROUPS
        if quiet and not has_unavailable(sync_states.load(newsgroup)):
            return MessageStream(address, iter(()), lambda: 0)
        with explained(self.account):
            group = self._enter_group(newsgroup)
            if group.count and renumbered(self.client, group, last, numbering, sync_states):
                numbering, last = numbering + 1, 0
                origin = _origin(address, numbering, audience)
        articles = NewArticles(
            self.client, group, origin, numbering, self.rate_limit, self.seen_ids, sync_states
        )
        items = _explained_items(self.account, articles.after(last))
        return MessageStream(address, items, lambda: group.at_most_after(last))

    def _enter_group(self, newsgroup: str) -> NewsgroupStatus:
        check_pattern(newsgroup)
        try:
            _answer, count, first, last, _name = self.client.group(newsgroup)
        except NNTPError as error:
            if code_of(error) != 411:
                raise
            raise TapestryError(
                f"{self.account.host} has no newsgroup {newsgroup}.",
                hint="Check its name; a pattern such as comp.* shows what there is.",
            ) from error
        return NewsgroupStatus(newsgroup, count, first, last)

    def _matching(self, patterns: Sequence[str]) -> list[NewsgroupStatus]:
        together = ",".join(patterns)
        short = len(together) <= _LONGEST_COMMAND and together != "*"
        listed: Any
        with explained(self.account):
            try:
                _answer, listed = self.client.list(together if short else None)
            except NNTPError as error:
                # Some cannot list by pattern.
                if not short or code_of(error) not in (500, 501, 503):
                    raise
                _answer, listed = self.client.list()
        found = [
            # Of an empty group the first number is above the last.
            NewsgroupStatus(name, max(0, int(last) - int(first) + 1), int(first), int(last))
            for name, last, first, _flag in listed
            if is_plain(name) and matches(patterns, name)
        ]
        return sorted(found, key=lambda group: group.name)


@contextmanager
def open_nntp(account: Account, timeout: float = TIMEOUT) -> Iterator[NntpSession]:
    """Connect, and log in if there is a user, for the length of the block."""
    with connected(account, timeout) as client:
        yield NntpSession(account, client, TokenBucket(ARTICLES_PER_SECOND))


def _origin(address: str, numbering: int, audience: str) -> str:
    return f"{address};numbering={numbering}@{audience}"


def _numbering(address: str, audience: str, cursor_of: CursorOf) -> int:
    """Return the newest numbering that has a cursor, 0 before there is any."""
    numbering = 0
    while cursor_of(_origin(address, numbering + 1, audience)) is not None:
        numbering += 1
    return numbering


def _explained_items(account: Account, items: Iterator[Item]) -> Iterator[Item]:
    with explained(account):
        yield from items
