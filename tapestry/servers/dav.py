"""WebDAV, as far as address books and calendars need it (RFC 4918): a question, what it finds.

    ask ─> opened (checked address, TLS, limits) ─> 207 Multi-Status ─> resources found
     └────── redirected within the site ──┘

Each question has a connection of its own, as most servers close them.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from base64 import b64encode
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from time import monotonic
from typing import Literal, NamedTuple
from urllib.parse import quote, unquote, urljoin, urlsplit
from xml.etree.ElementTree import Element, ParseError

from defusedxml.ElementTree import fromstring

from tapestry.servers.account import (
    Account,
    ConnectionLostError,
    RefusedError,
    protocol_explained,
    reading_reply,
)
from tapestry.servers.http_digest import HttpDigest
from tapestry.servers.opening import opened
from tapestry.servers.private_hosts import Target, read_target
from tapestry.servers.quoted_reply import quoted_reply
from tapestry.servers.web_request import MOST_REDIRECTS, REDIRECTS, OpenConnection

DAV = "{DAV:}"

LARGEST = 1 << 25
"""Bytes of an answer."""

_ASKED = "WWW-Authenticate"
_UNCHANGED = "@:~!$&'()*+,;="


class NothingThereError(RefusedError):
    """An address has nothing of what is looked for."""


class Found(NamedTuple):
    """A resource of an answer: its URL, its status, and its properties by their names."""

    url: str
    status: int
    properties: Mapping[str, Element]

    def text(self, name: str) -> str:
        """Return the text of a property, empty if there is none."""
        found = self.properties.get(name)
        return (found.text or "").strip() if found is not None else ""

    def has(self, name: str, value: str) -> bool:
        """Tell whether a property has an element, such as a type of resource."""
        found = self.properties.get(name)
        return found is not None and found.find(value) is not None

    def links(self, name: str) -> list[str]:
        """Return the addresses in a property."""
        found = self.properties.get(name)
        hrefs = found.findall(f"{DAV}href") if found is not None else []
        return [normal_url(self.url, href.text or "") for href in hrefs]


class Answer(NamedTuple):
    """Answer of an address: its URL, the resources, and the token of a sync."""

    url: str
    found: list[Found]
    token: str


@dataclass(frozen=True, slots=True)
class DavServer:
    """An account's server; ``deadline`` is an instant of the monotonic clock, for all questions."""

    account: Account
    timeout: float
    deadline: float
    digest: HttpDigest

    @property
    def root(self) -> str:
        """Return the URL of the server."""
        here = self.account
        return Target(self.scheme, here.host, here.port, "/").origin

    @property
    def scheme(self) -> Literal["http", "https"]:
        return "https" if self.account.security == "tls" else "http"

    def properties(self, url: str, *names: str, depth: int = 0) -> list[Found]:
        """Return the resource at an address, and with ``depth`` 1 what is in it (PROPFIND)."""
        asked = "".join(_element(name) for name in names)
        body = f'<propfind xmlns="DAV:"><prop>{asked}</prop></propfind>'
        return self.ask("PROPFIND", url, body, depth).found

    def ask(self, method: str, url: str, body: str, depth: int = 0) -> Answer:
        """Return what an address answers.

        Raise NothingThereError, another RefusedError or ConnectionLostError, in words.
        """
        headers = {"Content-Type": "application/xml; charset=utf-8", "Depth": str(depth)}
        digest = self.digest
        for _ in range(2 + MOST_REDIRECTS):
            target = self._target(url)
            account = replace(self.account, host=target.host, port=target.port)
            seconds = max(0.0, self.deadline - monotonic())
            explained = _explained(account)
            with opened(_Client, _explained, account, self.timeout, seconds) as client, explained:
                always = {"Host": target.authority, "Connection": "close", **client.login}
                signed = headers | always | digest.headers(method, url)
                client.request(method, target.path, body.encode(), signed)
                reply = client.getresponse()
                content = reply.read(LARGEST + 1)
            asked = reply.headers.get_all(_ASKED, []) if reply.status == 401 else []
            if account.method == "password" and digest.is_asked_for(asked):
                continue
            if reply.status not in REDIRECTS:
                return _answer(account, url, reply.status, content)
            url = urljoin(url, reply.getheader("Location") or "")
        raise RefusedError(f"{self.account.where} redirects without an end.")

    def _target(self, url: str) -> Target:
        """Return where an address is; raise RefusedError if that is another site."""
        target, here = read_target(url), self.account
        if target.scheme == self.scheme and _is_same_site(target.host, here.host):
            return target
        raise RefusedError(
            f"{here.where} has moved to {quoted_reply(ValueError(target.origin), here.secret)}.",
            hint="If you trust that server, name it in this source.",
        )


def normal_url(base: str, href: str) -> str:
    """Return an address that a server names, written in the one way of several.

    >>> normal_url("https://x.org/a/", "/terry%40x.org/b c/")
    'https://x.org/terry@x.org/b%20c/'
    """
    url = urljoin(base, quote(href.strip(), safe="%/?#" + _UNCHANGED))
    path = "/".join(quote(unquote(part), _UNCHANGED) for part in urlsplit(url).path.split("/"))
    return f"{read_target(url).origin}{path}"


class _Client(OpenConnection):
    """HTTP over a connection, as ``opened`` uses it."""

    def __init__(self, account: Account, connection: socket.socket, timeout: float) -> None:
        super().__init__(account, connection)
        self.leave, self.set_timeout = connection.close, connection.settimeout
        self.login: dict[str, str] = {}

    def offers_tls(self) -> bool:
        return False

    def begin_tls(self, context: ssl.SSLContext) -> None:
        """Do nothing: HTTP has no STARTTLS."""

    def authenticate(self, account: Account) -> None:
        if account.method == "xoauth2":
            self.login = {"Authorization": f"Bearer {account.secret}"}
        elif account.user:
            both = b64encode(f"{account.user}:{account.secret}".encode()).decode()
            self.login = {"Authorization": f"Basic {both}"}


def _answer(account: Account, url: str, status: int, content: bytes) -> Answer:
    if status == 401:
        raise RefusedError(
            f"{account.host} refused the user name or password of {account.user}.",
            hint="Many providers require an app password: one made for this program alone.",
        )
    if status >= 500 or status == 429:
        raise ConnectionLostError(
            f"{account.where} cannot answer now (status {status}).",
            hint="It is tried again later.",
        )
    if status != 207:
        path = quoted_reply(ValueError(urlsplit(url).path), account.secret)
        raise NothingThereError(
            f"{account.where} has nothing to read at {path} (status {status}).",
            hint="Check the server and the path.",
        )
    if len(content) > LARGEST:
        raise RefusedError(f"{account.where} answers with more than {LARGEST >> 20} MB at once.")
    with _explained(account), reading_reply():
        root = _parsed(content)
        found = [_found(url, response) for response in root.findall(f"{DAV}response")]
        return Answer(url, found, (root.findtext(f"{DAV}sync-token") or "").strip())


def _parsed(content: bytes) -> Element:
    try:
        root: Element = fromstring(content)
    except ParseError as error:
        raise ValueError(str(error)) from error
    if root.tag != f"{DAV}multistatus":
        raise ValueError(f"{root.tag} is no multistatus")
    return root


def _found(url: str, response: Element) -> Found:
    properties = {
        element.tag: element
        for propstat in response.findall(f"{DAV}propstat")
        if _status(propstat) == 200
        for element in propstat.findall(f"{DAV}prop/*")
    }
    place = normal_url(url, response.findtext(f"{DAV}href") or "")
    return Found(place, _status(response), properties)


def _status(element: Element) -> int:
    """Return the number in a line such as HTTP/1.1 404 Not Found; 200 where there is none."""
    line = (element.findtext(f"{DAV}status") or "HTTP/1.1 200 OK").split()
    return int(line[1])


def _element(name: str) -> str:
    """Return an empty element by its name with the name space in braces."""
    space, _, local = name.removeprefix("{").rpartition("}")
    return f'<{local} xmlns="{space}"/>'


def _is_same_site(host: str, known: str) -> bool:
    """Tell whether a host is the known one, or beside it in one domain.

    >>> _is_same_site("p42-contacts.icloud.com", "contacts.icloud.com")
    True
    >>> _is_same_site("10.0.0.1", "127.0.0.1"), _is_same_site("x.com", "dav.com")
    (False, False)
    """
    domain = known.lower().partition(".")[2]
    is_name = "." in domain and not domain.replace(".", "").isdigit()
    return host == known.lower() or (is_name and host.endswith(f".{domain}"))


def _explained(account: Account) -> AbstractContextManager[None]:
    return protocol_explained(account, http.client.HTTPException, "a CardDAV or CalDAV server")
