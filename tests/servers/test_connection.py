"""Connections to hosts that people name: what is inside cannot be told from what fails."""

import logging
import socket
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from tapestry.core.errors import TapestryError
from tapestry.core.processes.child_process import free_port
from tapestry.ingest.session import open_session
from tapestry.servers import connection
from tapestry.servers.account import ANYWHERE, Account, ConnectionLostError
from tapestry.servers.connection import UnreachableError, open_socket

LOOPBACK = ("127.0.0.0/8",)
SECONDS = 0.4


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(connection, "SECONDS", SECONDS)


@contextmanager
def server(says: bytes | None):
    """A port that says something to whoever connects and hangs up, or says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        opened = []

        def serve():
            while True:
                try:
                    accepted, _ = listener.accept()
                except OSError:
                    return
                opened.append(accepted)
                if says is not None:
                    accepted.sendall(says)
                    accepted.close()

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1], opened
        listener.shutdown(socket.SHUT_RDWR)
    for accepted in opened:
        accepted.close()


@contextmanager
def dripping(begins: bytes, line: bytes):
    """A port that sends a little at a time, and never comes to an end."""
    over = threading.Event()

    def serve(listener):
        with suppress(OSError):
            accepted, _ = listener.accept()
            with accepted:
                accepted.sendall(begins)
                while not over.wait(0.02):
                    accepted.sendall(line)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        over.set()
        thread.join(10)


def failure(account):
    """What a person is told, and that it took its time."""
    begun = time.monotonic()
    with pytest.raises(UnreachableError) as caught, open_session(account):
        pass
    assert time.monotonic() - begun >= SECONDS
    assert caught.value.__cause__ is None
    return caught.value.render().replace(account.where, "HOST:PORT")


@pytest.mark.parametrize("kind", ["imap", "nntp"])
@pytest.mark.parametrize("security", ["tls", "starttls"])
def test_all_that_fails_before_tls_is_told_alike(kind, security):
    told = set()
    with server(None) as (silent, _), server(b"SSH-2.0\r\n") as (other, _):
        for host, port, allowed in (
            ("127.0.0.1", silent, ()),  # open, not public
            ("127.0.0.1", free_port(), ()),  # closed, not public
            ("127.0.0.1", free_port(), LOOPBACK),  # closed
            ("127.0.0.1", silent, LOOPBACK),  # says nothing
            ("127.0.0.1", other, LOOPBACK),  # says something else
            ("no-such-host.invalid", 993, ()),
        ):
            told.add(failure(Account(kind, host, port, security, "joe", "s", "password", allowed)))
    assert len(told) == 1
    assert "TAPESTRY_PRIVATE_HOSTS" in told.pop()


@pytest.mark.parametrize(
    ("allowed", "reason"),
    [((), "127.0.0.1 is not a public host"), (LOOPBACK, "Connection refused")],
)
def test_the_log_says_what_it_was(allowed, reason, caplog, monkeypatch):
    caplog.set_level("INFO", connection.__name__)
    log = logging.getLogger(connection.__name__)
    monkeypatch.setattr(log, "disabled", False)  # whatever other tests configured
    monkeypatch.setattr(connection, "SECONDS", 60.0)
    monkeypatch.setattr(connection, "wait_until", lambda _deadline: None)
    account = Account("imap", "127.0.0.1", free_port(), "tls", "joe", "s", "password", allowed)
    with pytest.raises(UnreachableError), open_session(account):
        pass
    assert reason in caplog.text


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.1", "0x7f000001", "localhost", "::1", "::ffff:127.0.0.1", "0.0.0.0"]
)
def test_nothing_of_this_machine_is_connected_to(host):
    with server(None) as (port, opened):
        failure(Account("imap", host, port, "none", "joe", "s"))
        assert opened == []


def test_the_operator_is_told_at_once_what_it_was():
    account = Account("imap", "127.0.0.1", free_port(), "none", "joe", "s", allowed=ANYWHERE)
    with pytest.raises(ConnectionLostError, match="Connection refused"), open_session(account):
        pass


def test_the_connection_is_to_the_address_that_was_checked():
    answers = iter([["127.0.0.1"], ["127.0.0.2"]])
    with server(None) as (port, _):
        deadline = time.monotonic() + 60
        names = ("rebinding.example",)
        opened = open_socket(names[0], port, names, deadline, lambda *_: next(answers))
        with opened:
            assert opened.getpeername() == ("127.0.0.1", port)
    assert next(answers) == ["127.0.0.2"], "it was looked up once"


def test_one_address_that_is_not_public_is_enough_to_refuse():
    with pytest.raises(TapestryError, match="not a public host"):
        open_socket("x.org", 1, (), time.monotonic() + 60, lambda *_: ["9.9.9.9", "10.0.0.1"])


@pytest.mark.parametrize("security", ["tls", "starttls"])
def test_a_server_that_drips_keeps_nobody_before_tls(security):
    with dripping(b"", b"*") as port:
        failure(Account("imap", "127.0.0.1", port, security, "joe", "s", "password", LOOPBACK))


@pytest.mark.parametrize(
    ("kind", "begins", "line"),
    [("imap", b"* OK\r\n", b"* OK\r\n"), ("nntp", b"200 hi\r\n101 all\r\n", b"x\r\n")],
)
def test_a_server_that_drips_keeps_nobody_longer_than_the_limit(kind, begins, line):
    with dripping(begins, line) as port:
        account = Account(kind, "127.0.0.1", port, "none", allowed=ANYWHERE)
        with pytest.raises(ConnectionLostError), open_session(account, 60, 0.4):
            pass
