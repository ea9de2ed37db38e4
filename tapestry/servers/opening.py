"""Open a connection with a server, whichever protocol it speaks.

    socket ─ TLS ─> client reads the greeting ─ STARTTLS ─> private, or refused ─> user, password

No secret is sent before the connection is private, and none over one that is not.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Protocol, TypeVar

from tapestry.servers.account import Account, require_private_connection
from tapestry.servers.connection import limited, reached


class Client(Protocol):
    """A library's client for one protocol, over a socket that is connected already.

    Made, it has read the server's greeting.  Whatever it does may raise the library's errors.
    """

    def offers_tls(self) -> bool:
        """Return whether the server takes STARTTLS."""

    def begin_tls(self, context: ssl.SSLContext) -> None:
        """Have the connection encrypted from now on (STARTTLS)."""

    def set_timeout(self, seconds: float) -> None:
        """Wait so long for each response."""

    def authenticate(self, account: Account) -> None:
        """Give user and password, if there are any; raise RefusedError if they are refused."""

    def leave(self) -> None:
        """Close the connection, which may be lost already."""


SomeClient = TypeVar("SomeClient", bound=Client)


@contextmanager
def opened(
    client_over: Callable[[Account, socket.socket, float], SomeClient],
    explained: Callable[[Account], AbstractContextManager[None]],
    account: Account,
    timeout: float,
    seconds: float | None,
) -> Iterator[SomeClient]:
    """Connect and authenticate; the connection is closed when the block ends, in any way.

    ``timeout`` is seconds a response, ``seconds`` limits all of it; ``explained`` puts the errors
    of the protocol in words.  Raise ConnectionLostError or RefusedError, in words;
    UnreachableError if there is no TLS.  Errors of the protocol in the block pass.
    """
    with ExitStack() as stack:
        with explained(account), reached(account, timeout) as connection, explained(account):
            stack.enter_context(limited(connection, seconds))
            if account.security == "tls":
                connection = ssl.create_default_context().wrap_socket(
                    connection, server_hostname=account.host
                )
            client = client_over(account, connection, timeout)
            stack.callback(client.leave)
            if account.security == "starttls" and client.offers_tls():
                client.begin_tls(ssl.create_default_context())
            elif account.security != "tls":
                require_private_connection(account)
        with explained(account):
            client.set_timeout(timeout)
            client.authenticate(account)
        yield client
