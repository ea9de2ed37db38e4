"""In which order a connection is opened: no secret before it is private, and always an end."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest

from tapestry.servers import opening
from tapestry.servers.account import Account, RefusedError

REMOTE = Account("imap", "mail.example", 143, "starttls", "joe", "secret")


class Recorded:
    """A client of no protocol that writes down what it is told."""

    def __init__(self, takes_tls: bool, refuses: bool = False) -> None:
        self.takes_tls, self.refuses = takes_tls, refuses
        self.told: list[str] = []

    def over(self, account: Account, connection: socket.socket, timeout: float) -> Recorded:
        self.told.append("greeting")
        return self

    def offers_tls(self) -> bool:
        return self.takes_tls

    def begin_tls(self, context: ssl.SSLContext) -> None:
        assert context.check_hostname and context.verify_mode == ssl.CERT_REQUIRED
        self.told.append("tls")

    def set_timeout(self, seconds: float) -> None:
        pass

    def authenticate(self, account: Account) -> None:
        self.told.append("secret")
        if self.refuses:
            raise RefusedError("Wrong.", hint="Check both.")

    def leave(self) -> None:
        self.told.append("end")


@pytest.fixture(autouse=True)
def line(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    near, far = socket.socketpair()
    with near, far:

        @contextmanager
        def reached(account: Account, timeout: float) -> Iterator[socket.socket]:
            yield near

        monkeypatch.setattr(opening, "reached", reached)
        yield


def opened(client: Recorded, account: Account) -> Any:
    return opening.opened(client.over, lambda _: nullcontext(), account, 10.0, None)


def test_tls_comes_before_the_secret() -> None:
    client = Recorded(takes_tls=True)
    with opened(client, REMOTE) as usable:
        assert usable.told == ["greeting", "tls", "secret"]
    assert client.told[-1] == "end"


@pytest.mark.parametrize("security", ["starttls", "none"])
def test_without_tls_no_secret_crosses_a_network(security: Any) -> None:
    client = Recorded(takes_tls=False)
    account = Account("smtp", "mail.example", 25, security, "joe", "secret")
    with pytest.raises(RefusedError, match="offers no TLS"), opened(client, account):
        pass
    assert client.told == ["greeting", "end"]


def test_without_a_secret_or_on_this_machine_none_is_needed() -> None:
    for account in (
        Account("nntp", "news.example", 119, "none"),
        Account("imap", "localhost", 143, "starttls", "joe", "secret"),
    ):
        client = Recorded(takes_tls=False)
        with opened(client, account):
            pass
        assert client.told == ["greeting", "secret", "end"]


def test_what_fails_or_is_left_has_an_end() -> None:
    client = Recorded(takes_tls=True, refuses=True)
    with pytest.raises(RefusedError), opened(client, REMOTE):
        pass
    assert client.told == ["greeting", "tls", "secret", "end"]
    client = Recorded(takes_tls=True)
    with pytest.raises(KeyError), opened(client, REMOTE):
        raise KeyError
    assert client.told[-1] == "end"
