"""A session with a news server (RFC 3977): newsgroups by name or wildmat, articles by number.

LIST ACTIVE ─> newsgroups ─ GROUP ─> water marks ─ OVER ─> numbers, ids ─ ARTICLE ─> items
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tapestry.core.errors import TapestryError
from tapestry.core.ports import SyncStates
from tapestry.ingest.fetch import UnavailableMessages
from tapestry.ingest.first_look import FirstLook
from tapestry.ingest.nntp.group import NewArticles, NewsgroupStatus, renumbered
from tapestry.ingest.nntp.token_bucket import TokenBucket
from tapestry.ingest.nntp.wildmat import check_pattern, is_pattern, matches
from tapestry.ingest.stream import CursorOf, ListedFolder, MessageStream, Resumed, read_within
from tapestry.ingest.unavailable import has_unavailable
from tapestry.servers.account import TIMEOUT, Account
from tapestry.servers.nntp import Client, NNTPError, code_of, connected, explained
from tapestry.servers.quoted_reply import is_plain

ARTICLES_PER_SECOND = 50.0
"""Articles fetched from a server in a second, after the burst of a hundred."""

MOST_GROUPS = 5000

FEW_GROUPS = 50
"""Groups up to which all are entered at every pull.  If there are more, a group whose high water
mark has not moved is skipped, unless it has unavailable articles; if it was renumbered
meanwhile, its next article shows that."""

_LONGEST_COMMAND = 480


@dataclass(slots=True)
class NntpSession:
    """An authenticated session with a news server.

    ``seen_ids`` are the Message-IDs that were fetched: a crossposted article is fetched once; its
    Newsgroups header names all its groups (RFC 5536, section 3.1.4).
    """

    account: Account
    client: Client
    rate_limit: TokenBucket
    seen_ids: set[str] = field(default_factory=set)
    active: dict[str, NewsgroupStatus] = field(default_factory=dict)

    def list_folders(
        self, patterns: Sequence[str] = ("*",), hidden: Sequence[str] = ()
    ) -> list[ListedFolder]:
        """Return the groups that names and wildmats stand for, with their estimated counts.

        Nothing is delivered to newsgroups: none is ``hidden``.
        """
        return [ListedFolder(group.name, group.count) for group in self._matching(patterns)]

    def expand(self, patterns: Sequence[str], hidden: Sequence[str] = ()) -> list[str]:
        """Return the distinct names of the groups that names and wildmats stand for."""
        if not any(map(is_pattern, patterns)):
            _check(patterns)
            return list(dict.fromkeys(patterns))
        matching = self._matching(patterns)
        if len(matching) > MOST_GROUPS:
            raise TapestryError(
                f"{', '.join(patterns)[:200]} stands for {len(matching)} groups "
                f"of {self.account.host}.",
                hint=f"Name fewer: at most {MOST_GROUPS} can be pulled from one source.",
            )
        self.active = {group.name: group for group in matching}
        # A group that is named in full is entered, and reported missing, if it is not listed.
        named = [name for name in patterns if not is_pattern(name)]
        return list(dict.fromkeys([*named, *self.active]))

    def open(
        self, folder: str, audience: str, cursor_of: CursorOf, sync_states: SyncStates
    ) -> MessageStream:
        """Return the articles of a group after its cursor, by number, and those of its first look.

        The cursor is valid for one numbering.  If the server renumbers its articles, the group
        is looked at for the first time again; articles that are stored already are not added again.
        """
        address = f"{self.account.address}/{folder}"
        numbering = _numbering(address, audience, cursor_of)
        last, left = _reached(_origin(address, numbering, audience), cursor_of)
        listed = self.active.get(folder)
        quiet = listed is not None and listed.high == last and len(self.active) > FEW_GROUPS
        if quiet and not left and not has_unavailable(sync_states.load(folder)):
            return MessageStream(address, iter(()), lambda: 0)
        with explained(self.account):
            group = self._enter_group(folder)
            if group.count and renumbered(self.client, group, last, numbering, sync_states):
                numbering += 1
        origin = _origin(address, numbering, audience)
        look = FirstLook.of(origin, cursor_of, lambda: group.high)
        last = FirstLook.last(origin, cursor_of, look)
        unavailable = UnavailableMessages(sync_states, folder, numbering, origin)
        articles = NewArticles(
            self.client, group, unavailable, self.rate_limit, self.seen_ids, look
        )
        items = read_within(explained(self.account), articles.after(last))
        new = group.at_most_after(last)
        older = max(0, look.below - group.low) if look else 0
        resumed = Resumed(max(0, look.newest + 1 - look.below) if look and older else 0)
        return MessageStream(
            address,
            items,
            lambda: resumed.messages + new + older,
            resumed,
            unavailable.putting_aside,
        )

    def _enter_group(self, name: str) -> NewsgroupStatus:
        check_pattern(name)
        try:
            _response, count, low, high, _name = self.client.group(name)
        except NNTPError as error:
            if code_of(error) != 411:
                raise
            raise TapestryError(
                f"{self.account.host} has no newsgroup {name}.",
                hint="Check its name; a pattern such as comp.* shows what there is.",
            ) from error
        return NewsgroupStatus(name, count, low, high)

    def _matching(self, patterns: Sequence[str]) -> list[NewsgroupStatus]:
        _check(patterns)  # they become a command, which ends at the first line break
        wildmat = ",".join(patterns)
        is_short = len(wildmat) <= _LONGEST_COMMAND and wildmat != "*"
        listed: Any
        with explained(self.account):
            try:
                _response, listed = self.client.list(wildmat if is_short else None)
            except NNTPError as error:
                # Some servers cannot list by wildmat.
                if not is_short or code_of(error) not in (500, 501, 503):
                    raise
                _response, listed = self.client.list()
        groups = [
            # The low water mark of an empty group is above its high water mark.
            NewsgroupStatus(name, max(0, int(high) - int(low) + 1), int(low), int(high))
            for name, high, low, _flag in listed
            if is_plain(name) and matches(patterns, name)
        ]
        return sorted(groups, key=lambda group: group.name)


@contextmanager
def open_nntp(
    account: Account, timeout: float = TIMEOUT, seconds: float | None = None
) -> Iterator[NntpSession]:
    """Connect, and authenticate if there is a user, for the length of the block."""
    with connected(account, timeout, seconds) as client:
        yield NntpSession(account, client, TokenBucket(ARTICLES_PER_SECOND))


def _check(patterns: Sequence[str]) -> None:
    """Raise TapestryError unless all are names of groups, or wildmats."""
    for pattern in patterns:
        check_pattern(pattern)


def _origin(address: str, numbering: int, audience: str) -> str:
    return f"{address};numbering={numbering}@{audience}"


def _numbering(address: str, audience: str, cursor_of: CursorOf) -> int:
    """Return the newest numbering that has a cursor, 0 if none has."""
    numbering = 0
    while FirstLook.has_begun(_origin(address, numbering + 1, audience), cursor_of):
        numbering += 1
    return numbering


def _reached(origin: str, cursor_of: CursorOf) -> tuple[int, bool]:
    """Return the last article number that was read, and whether older ones are left."""
    look = FirstLook.of(origin, cursor_of, lambda: 0)
    return FirstLook.last(origin, cursor_of, look), look is not None and look.below > 1
