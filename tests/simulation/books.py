"""Servers of address books and calendars, in memory, as WebDAV asks them (RFC 4918, RFC 6578).

/.well-known or / ─> principal ─> home ─> collections ─> what has changed ─> cards, events
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote
from xml.etree.ElementTree import fromstring
from xml.sax.saxutils import escape

Fact = tuple[str, str, int | None]
"""What a card or an event says: kind, value and start of an annotation."""

WORDS = {"carddav": ("addressbook", "address-data"), "caldav": ("calendar", "calendar-data")}
MARKS = ("token", "token", "ctag", "")
"""How a server says that a collection has changed: by a sync token, a ctag, or not at all."""

MOST = 3
"""Changes that are told at once: then there are more (RFC 6578, section 3.6)."""

Reply = tuple[int, str]


@dataclass(slots=True)
class Resource:
    """A card or an event; None ``says`` what cannot be read.

    ``earlier`` is all it said before: a site may have read any version of it last.
    """

    number: int
    content: str
    says: list[Fact] | None
    earlier: list[Fact] = field(default_factory=list)


@dataclass(slots=True)
class Collection:
    """An address book or a calendar: its resources by path, and all changes, the oldest first.

    ``oldest`` is the oldest token that the server still knows.
    """

    resources: dict[str, Resource] = field(default_factory=dict)
    changes: list[str] = field(default_factory=list)
    oldest: int = 0

    def put(self, path: str, content: str, says: list[Fact] | None) -> None:
        """Store a resource; it cannot be read if nobody can say what it says."""
        before = self.resources.get(path)
        earlier = [*(before.says or ()), *before.earlier] if before else []
        self.changes.append(path)
        self.resources[path] = Resource(len(self.changes), content, says, earlier)

    def delete(self, path: str) -> None:
        del self.resources[path]
        self.changes.append(path)


@dataclass(slots=True)
class Home:
    """The address books, or the calendars, of a person; ``leads`` says where discovery begins."""

    user: str
    owner: str
    kind: str
    marks: str
    leads: bool
    made: int = 0
    collections: dict[str, Collection] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return f"/{quote(self.user)}/"

    def add(self) -> str:
        """Make a collection, and return its path."""
        self.made += 1
        path = f"{self.path}c{self.made}/"
        self.collections[path] = Collection()
        return path


class Books:
    """All homes, by their users; ``lots`` decides what each server is like."""

    def __init__(self, seed: str) -> None:
        self.lots = random.Random(seed)
        self.homes: dict[str, Home] = {}

    def make(self, owner: str, kind: str) -> Home:
        user = f"{owner.lower()} {len(self.homes) + 1}"
        home = Home(user, owner, kind, self.lots.choice(MARKS), self.lots.random() < 0.5)
        self.homes[user] = home
        home.add()
        return home

    def answer(self, request: dict[str, Any], fault: dict[str, Any] | None) -> dict[str, Any]:
        """Return the answer to a request: a status, a place to go on, a body; or a fault."""
        if fault is not None:
            return fault
        home = self.homes[request["user"]]
        if request["path"] == f"/.well-known/{home.kind}" and home.leads:
            return {"answer": "ok", "status": 301, "location": "/dav/", "body": ""}
        status, body = _reply(home, request)
        return {"answer": "ok", "status": status, "location": "", "body": body}


def _reply(home: Home, request: dict[str, Any]) -> Reply:
    path = request["path"]
    collection = home.collections.get(path)
    if request["method"] == "REPORT":
        if collection is None:
            return 404, ""
        asked = fromstring(request["body"])
        if asked.tag == "{DAV:}sync-collection":
            return _since(home, path, collection, asked.findtext("{DAV:}sync-token") or "")
        return _contents(home, collection, [it.text or "" for it in asked.iter("{DAV:}href")])
    if path in ("/", "/dav/"):
        principal = "<current-user-principal><href>/me/</href></current-user-principal>"
        return _found(_resource(path, principal))
    if path == "/me/":
        word, space = WORDS[home.kind][0], _space(home)
        place = f'<{word}-home-set {space}><href xmlns="DAV:">{home.path}</href></{word}-home-set>'
        return _found(_resource(path, place))
    if path == home.path:
        listed = (_resource(at, *_of(home, it)) for at, it in home.collections.items())
        return _found(_resource(path, "<resourcetype><collection/></resourcetype>"), *listed)
    if collection is None:
        return 404, ""
    resources = collection.resources.items() if request["depth"] == "1" else ()
    within = (_resource(at, _etag(it)) for at, it in resources)
    return _found(_resource(path, *_of(home, collection)), *within)


def _of(home: Home, collection: Collection) -> Iterator[str]:
    """Yield the properties of a collection."""
    yield f"<resourcetype><collection/><{WORDS[home.kind][0]} {_space(home)}/></resourcetype>"
    if home.marks == "token":
        yield f"<sync-token>{_token(collection, len(collection.changes))}</sync-token>"
    elif home.marks == "ctag":
        mark = len(collection.changes)
        yield f'<getctag xmlns="http://calendarserver.org/ns/">{mark}</getctag>'


def _since(home: Home, path: str, collection: Collection, token: str) -> Reply:
    """Return what has changed since a token: no more than a few, and that there is more."""
    known = re.fullmatch(r"urn:(\d+)", token)
    number = int(known[1]) if known else -1
    if home.marks != "token" or number < collection.oldest:
        return 403, ""
    until = min(number + MOST, len(collection.changes))
    answers = [
        _resource(at, _etag(collection.resources[at])) if at in collection.resources else _gone(at)
        for at in dict.fromkeys(collection.changes[number:until])
    ]
    if until < len(collection.changes):
        answers.append(_gone(path, 507))
    return _found(*answers, token=_token(collection, until))


def _contents(home: Home, collection: Collection, hrefs: list[str]) -> Reply:
    name = WORDS[home.kind][1]
    answers = []
    for path in map(unquote, hrefs):
        at = quote(path)
        found = collection.resources.get(at)
        data = f"<{name} {_space(home)}>{escape(found.content)}</{name}>" if found else ""
        answers.append(_resource(at, _etag(found), data) if found else _gone(at))
    return _found(*answers)


def _token(collection: Collection, number: int) -> str:
    return f"urn:{max(number, collection.oldest)}"


def _etag(resource: Resource) -> str:
    return f'<getetag>"{resource.number}"</getetag>'


def _space(home: Home) -> str:
    return f'xmlns="urn:ietf:params:xml:ns:{home.kind}"'


def _resource(path: str, *properties: str) -> str:
    status = "<status>HTTP/1.1 200 OK</status>"
    told = f"<propstat><prop>{''.join(properties)}</prop>{status}</propstat>"
    return f"<response><href>{path}</href>{told}</response>"


def _gone(path: str, status: int = 404) -> str:
    return f"<response><href>{path}</href><status>HTTP/1.1 {status} No</status></response>"


def _found(*responses: str, token: str = "") -> Reply:
    told = f"<sync-token>{token}</sync-token>" if token else ""
    return 207, f'<multistatus xmlns="DAV:">{"".join(responses)}{told}</multistatus>'
