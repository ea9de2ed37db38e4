"""Connections to servers that are in the coordinator's memory: the product's, without a socket.

What names their faults and signs in is the product's own (tapestry.servers).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, TypeVar

from tapestry.servers.account import Account

Ask = Callable[[str, Any], Any]


class Client(Protocol):
    """As much of a client as a connection needs."""

    def authenticate(self, account: Account) -> None: ...


C = TypeVar("C", bound=Client)


def opened_as(client: Callable[[Account], C]) -> Callable[..., AbstractContextManager[C]]:
    """Return what opens a connection, in place of ``opened`` of a room's servers."""

    @contextmanager
    def opened(_: Any, explained: Any, account: Account, *limits: Any) -> Iterator[C]:
        made = client(account)
        with explained(account):
            made.authenticate(account)
        yield made

    return opened
