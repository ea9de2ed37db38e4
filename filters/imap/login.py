"""Signing in by IMAP: the name of an account, and a personal token of it that opens IMAP.

A token is 256 random bits, so nobody finds one by trying; the limits keep floods away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NoReturn

from proxyprotocol.sock import SocketInfo
from pymap.context import socket_info
from pymap.exceptions import AuthorizationFailure, InvalidAuth, NotAllowedError
from pymap.interfaces.login import IdentityInterface, LoginInterface
from pysasl.creds.server import ServerCredentials
from pysasl.identity import Identity

from filters.api.authentication import note_use, token_of
from filters.imap.refusals import LimitError
from filters.imap.session import SCOPE, Session
from filters.imap.threads import in_thread
from filters.people.models import User
from filters.people.signing_in.backend import ACCOUNT_AND_ADDRESS, ADDRESS, LONGEST, account_digest
from filters.people.signing_in.client_address import UNKNOWN, counted_as
from filters.site.work.rate_limits import Count, TooManyTriesError, digest, reserve
from tapestry.core.log import event

MOST_CONNECTIONS = 10
"""Connections that a person may have at once."""


class _Secret(Identity):
    """Takes the secret from credentials, which give it to what compares it."""

    authcid = value = ""

    def compare_authcid(self, authcid: str) -> bool:
        return True

    def compare_secret(self, value: str) -> bool:
        self.value = value
        return True

    def get_clear_secret(self) -> None:
        return None


class Reader(IdentityInterface):
    """Somebody who has signed in, by the key of their token."""

    roles: frozenset[str] = frozenset()

    def __init__(self, token: int, name: str, connections: Counter[str]) -> None:
        self._token, self._name, self._connections = token, name, connections

    @property
    def name(self) -> str:
        return self._name

    @asynccontextmanager
    async def new_session(self) -> AsyncIterator[Session]:
        """Open the mailboxes; LimitError for one connection too many."""
        if self._connections[self._name] >= MOST_CONNECTIONS:
            raise LimitError(f"You have {MOST_CONNECTIONS} connections, the most allowed.")
        self._connections[self._name] += 1
        try:
            yield Session(self._token, self._name)
        finally:
            self._connections[self._name] -= 1

    async def new_token(self, *, expiration: object = None) -> None:
        """Make none: tokens are made on their page."""

    async def get(self) -> NoReturn:
        raise NotAllowedError

    async def set(self, metadata: object) -> NoReturn:
        raise NotAllowedError

    async def delete(self) -> NoReturn:
        raise NotAllowedError


class Login(LoginInterface):
    """Checks names and tokens, within limits."""

    def __init__(self) -> None:
        self._connections: Counter[str] = Counter()

    @property
    def tokens(self) -> NoReturn:
        raise NotAllowedError

    async def authenticate(self, credentials: ServerCredentials) -> Reader:
        """Return who has signed in; InvalidAuth, or LimitError after too many failures."""
        secret = _Secret()
        credentials.verify(secret)
        address = _address(socket_info.get())
        found = await in_thread(_reader, _text(credentials.authcid), _text(secret.value), address)
        return Reader(*found, self._connections)

    async def authorize(self, authenticated: IdentityInterface, authzid: str) -> IdentityInterface:
        """Let everybody be themselves alone."""
        if _folded(authzid) != _folded(authenticated.name):
            raise AuthorizationFailure
        return authenticated


def _reader(name: str, secret: str, address: str) -> tuple[int, str]:
    """Return the key of a token, and its owner's name."""
    client = {"account": name[:LONGEST], "address": address}
    counted = counted_as(address)
    counts = [
        Count(
            "account and address",
            ACCOUNT_AND_ADDRESS,
            digest("imap", account_digest(name), counted),
        ),
        Count("address", ADDRESS, digest("imap", counted)),
    ]
    try:
        give_back = reserve(counts)
    except TooManyTriesError as refusal:
        event("imap_sign_in_refused", **client, reason=refusal.reason)
        raise LimitError(
            f"Too many wrong tries. Try again in {refusal.seconds} seconds."
        ) from refusal
    token = token_of(secret)
    if token is None or _folded(name) != _folded(token.owner.get_username()):
        event("imap_sign_in_failed", **client, reason="wrong name or token")
        raise InvalidAuth("Wrong name or token. Make a token on your page Access tokens.")
    if SCOPE not in token.scopes.split():
        event("imap_sign_in_failed", **client, reason="a token of other scopes")
        raise InvalidAuth("This token does not open IMAP. Make one that does.")
    give_back()
    note_use(token)
    return token.pk, token.owner.get_username()


def _text(given: str) -> str:
    """Return a text without what was no UTF-8 in it."""
    return given.encode("utf-8", "replace").decode()


def _folded(name: str) -> str:
    return User.normalize_username(name).casefold()


def _address(info: SocketInfo) -> str:
    return str(info.peername_ip or UNKNOWN)
