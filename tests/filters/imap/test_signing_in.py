"""Who may sign in by IMAP, how often, and what a stranger may send."""

from __future__ import annotations

import socket
import ssl

import pytest
from imapclient.exceptions import LoginError

from filters.api.authentication import make_token
from filters.people.models import User
from tests.filters.imap.conftest import Place, Program, connect

pytestmark = pytest.mark.live


def test_only_a_token_of_its_own_account_with_its_scope_signs_in(
    program: Program, alice: User, bob: User
) -> None:
    imap = make_token(alice, "phone", ["imap"], 7)[1]
    other = make_token(alice, "script", ["read"], 7)[1]
    for name, secret, says in (
        ("bob", imap, "Wrong name or token"),
        ("alice", "secret", "Wrong name or token"),
        ("alice", other, "does not open IMAP"),
        ("nobody", "", "Wrong name or token"),
    ):
        with pytest.raises(LoginError, match=says):
            program(alice, name=name, secret=secret)
    program(alice, name="ALICE", secret=imap)
    assert alice.access_tokens.get(name="phone").used_at is not None


def test_too_many_wrong_tries_are_refused_for_a_while(served: Place, alice: User) -> None:
    for _ in range(5):
        with pytest.raises(LoginError, match="Wrong name"):
            connect(served).login("alice", "wrong")
    with pytest.raises(LoginError, match="Too many wrong tries"):
        connect(served).login("alice", make_token(alice, "phone", ["imap"], 7)[1])


@pytest.mark.parametrize(
    "sent",
    [
        b"a LOGIN {999999999+}\r\n" + b"x" * 1000,
        b"a LOGIN {999999999}\r\n",
        b"x" * 200_000,
        b"a LOGIN " + b"(" * 60_000 + b"\r\n",
        b"\r\n" * 50,
        b'\0\xff\r\na LOGIN "\xff" "\xff"\r\n',
    ],
)
def test_a_stranger_is_let_go_who_sends_too_much(served: Place, alice: User, sent: bytes) -> None:
    port, authority = served
    context = ssl.create_default_context(cafile=str(authority))
    with (
        socket.create_connection(("127.0.0.1", port), 60) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1") as stream,
    ):
        assert stream.recv(1000).startswith(b"* OK")
        try:
            stream.sendall(sent + b"\r\nz LOGOUT\r\n")
            heard = b"".join(iter(lambda: stream.recv(1 << 16), b""))
        except OSError:
            heard = b"reset"
    assert b"SERVERBUG" not in heard and b"Tapestry is ready" not in heard
    connect(served).login("alice", make_token(alice, "phone", ["imap"], 7)[1])
