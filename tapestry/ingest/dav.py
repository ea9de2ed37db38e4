"""A session with a server of address books (CardDAV, RFC 6352) or calendars (CalDAV, RFC 4791).

/.well-known (RFC 6764) ─> principal ─> home ─> collections ─> what has changed ─> cards, events

A collection has a mark that changes with its content: its sync token (RFC 6578), else its ctag.
By a token the server says what is new and what is gone; else etags are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit
from xml.sax.saxutils import escape

from tapestry.core.ports import SyncStates
from tapestry.ingest.stream import CursorOf, ListedFolder, MessageStream
from tapestry.servers.account import TIMEOUT, Account, RefusedError
from tapestry.servers.dav import DAV, Answer, DavServer, Found, NothingThereError
from tapestry.servers.http_digest import HttpDigest

ALL = "*"
"""What stands for all collections that there are."""

LIMIT = 300.0
"""Seconds of a session that has no limit of its own."""

MOST_PARTS = 100
"""Answers in which a server may say what has changed."""

PRINCIPAL, TYPE, NAME = f"{DAV}current-user-principal", f"{DAV}resourcetype", f"{DAV}displayname"
ETAG, TOKEN = f"{DAV}getetag", f"{DAV}sync-token"
CTAG = "{http://calendarserver.org/ns/}getctag"

_SYNC = """<sync-collection xmlns="DAV:"><sync-token>{token}</sync-token><sync-level>1</sync-level>\
<prop><getetag/></prop></sync-collection>"""


class _Words(NamedTuple):
    """The words of a protocol: its name space, its collections, what is in them, and for people."""

    space: str
    collection: str
    data: str
    called: str

    def tag(self, name: str) -> str:
        return f"{{{self.space}}}{name}"


_SPACE = "urn:ietf:params:xml:ns:"
_WORDS = {
    "carddav": _Words(f"{_SPACE}carddav", "addressbook", "address-data", "address book"),
    "caldav": _Words(f"{_SPACE}caldav", "calendar", "calendar-data", "calendar"),
}


class _Collection(NamedTuple):
    url: str
    title: str
    token: str
    mark: str


class Changes(NamedTuple):
    """Changes of a collection since a mark: etags by address, and what is gone."""

    mark: str
    etags: Mapping[str, str]
    gone: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class DavSession:
    """An account's address books or calendars, by name: the path, or the URL on another host."""

    server: DavServer
    words: _Words
    collections: Mapping[str, _Collection]

    def list_folders(
        self, patterns: Sequence[str] = (ALL,), hidden: Sequence[str] = ()
    ) -> list[ListedFolder]:
        """Return what there is, and first what stands for all of it; nothing is ``hidden``."""
        listed = [ListedFolder(name, title=it.title) for name, it in self.collections.items()]
        return [ListedFolder(ALL), *listed]

    def expand(self, patterns: Sequence[str], hidden: Sequence[str] = ()) -> list[str]:
        """Return the names that are meant."""
        named = [name for name in patterns if name != ALL]
        return list(dict.fromkeys([*named, *(self.collections if ALL in patterns else ())]))

    def open(
        self, folder: str, audience: str, cursor_of: CursorOf, sync_states: SyncStates
    ) -> MessageStream:
        """Raise RefusedError: there is no mail in it."""
        raise RefusedError(f"There is no mail in the {self.words.called} {folder}.")

    def changes(self, name: str, mark: str, known: Mapping[str, str]) -> Changes:
        """Return what has changed in a collection since a mark, where etags by address are known.

        Without a mark all of it is compared.  Raise NothingThereError if it is not there any more.
        """
        there = self.collections.get(name)
        if there is None:
            raise NothingThereError(f"The {self.words.called} {name} is no longer there.")
        if mark and mark == there.mark:
            return Changes(mark, {})
        if mark and there.token:
            with suppress(NothingThereError):  # the token is too old, or of another server
                return self._since(there, mark)
        asked = self.server.properties(there.url, ETAG, TYPE, depth=1)
        etags = {
            found.url: found.text(ETAG)
            for found in asked
            if found.url != there.url and not found.has(TYPE, f"{DAV}collection")
        }
        return Changes(there.mark, etags, frozenset(known.keys() - etags.keys()))

    def _since(self, there: _Collection, token: str) -> Changes:
        etags: dict[str, str] = {}
        gone: set[str] = set()
        for _ in range(MOST_PARTS):
            answer = self.server.ask("REPORT", there.url, _SYNC.format(token=escape(token)))
            token = answer.token or token
            for found in answer.found:
                if found.status == 404:
                    gone.add(found.url)
                    etags.pop(found.url, None)
                elif found.url != there.url:
                    gone.discard(found.url)
                    etags[found.url] = found.text(ETAG)
            if not any(found.status == 507 for found in answer.found):
                break
        return Changes(token, etags, frozenset(gone))

    def contents(self, name: str, urls: Sequence[str]) -> Iterator[tuple[str, str, bytes]]:
        """Yield address, etag and content of some resources of a collection, empty if withheld."""
        words = self.words
        hrefs = "".join(f'<href xmlns="DAV:">{escape(urlsplit(url).path)}</href>' for url in urls)
        asked = f'<prop xmlns="DAV:"><getetag/><{words.data} xmlns="{words.space}"/></prop>{hrefs}'
        report = f"{words.collection}-multiget"
        body = f'<{report} xmlns="{words.space}">{asked}</{report}>'
        answer: Answer = self.server.ask("REPORT", self.collections[name].url, body)
        found = {resource.url: resource for resource in answer.found}
        for url in urls:
            resource = found.get(url, Found(url, 404, {}))
            yield url, resource.text(ETAG), resource.text(words.tag(words.data)).encode()


@contextmanager
def open_dav(
    account: Account, timeout: float = TIMEOUT, seconds: float | None = None
) -> Iterator[DavSession]:
    """Find the address books or calendars of an account; yield a session with them.

    Raise RefusedError if there are none, ConnectionLostError if the server is out of reach.
    """
    deadline = monotonic() + (LIMIT if seconds is None else seconds)
    server = DavServer(account, timeout, deadline, HttpDigest(account.user, account.secret))
    words = _WORDS[account.kind]
    found = {it.url.removeprefix(server.root): it for it in _discovered(server, words, account)}
    if not found:
        raise RefusedError(
            f"{account.where} has no {words.called} for {account.user or 'everybody'}.",
            hint="Check the server, or write the address of the one that you mean.",
        )
    yield DavSession(server, words, found)


def _discovered(server: DavServer, words: _Words, account: Account) -> Iterator[_Collection]:
    """Yield the collections of an account: that at its path, or else those of its homes."""
    homes = words.tag(f"{words.collection}-home-set")
    first = _first(server, account, homes)
    if first.has(TYPE, words.tag(words.collection)):
        places = [first.url]
    else:
        places = first.links(homes)
        for principal in first.links(PRINCIPAL) if not places else ():
            for found in server.properties(principal, homes):
                places += found.links(homes)
    components = words.tag("supported-calendar-component-set")
    for place in places or [first.url]:
        for found in server.properties(place, TYPE, NAME, TOKEN, CTAG, components, depth=1):
            names = {it.get("name") for it in found.properties.get(components, ())}
            is_for_tasks = names and "VEVENT" not in names
            if found.has(TYPE, words.tag(words.collection)) and not is_for_tasks:
                token = found.text(TOKEN)
                yield _Collection(found.url, found.text(NAME), token, token or found.text(CTAG))


def _first(server: DavServer, account: Account, homes: str) -> Found:
    """Return what answers at the path of an account; else at the well-known one, else at the root.

    Raise RefusedError if none does.
    """
    kind = account.kind
    paths = [account.path] if account.path else [f"/.well-known/{kind}", "/"]
    for path in paths:
        url, last = urljoin(server.root, path), path == paths[-1]
        with suppress(*() if last else (NothingThereError,)):
            if found := server.properties(url, PRINCIPAL, TYPE, homes):
                return found[0]
    raise RefusedError(f"{account.where} says nothing of what it has.")
