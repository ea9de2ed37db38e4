"""The web server: real sockets, the settings of `up`."""

import socket
from contextlib import suppress

import pytest

from filters.site.launch import web_server
from tests.support.servers.web import running_web

PAGE = b"GET /page HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
HALF = b"GET /page HTTP/1.1\r\nHost: x\r\n"
HALF_BODY = b"POST /page HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc"
READS_NOTHING = b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n"


def whole(connection: socket.socket) -> bytes:
    """All that the server says until it closes the connection."""
    answer = b""
    with suppress(ConnectionResetError):
        while part := connection.recv(65536):
            answer += part
    return answer


@pytest.fixture(scope="module")
def web():
    with running_web() as connect:
        yield connect


def test_slow_clients_keep_nobody_waiting(web):
    slow = [web(HALF) for _ in range(100)]
    slow += [web(HALF_BODY) for _ in range(50)]
    slow += [web(READS_NOTHING, window=4096) for _ in range(50)]
    for reader in slow[-50:]:
        assert reader.recv(1) == b"H"  # it has a thread's answer, and reads no further
    assert whole(web(PAGE)).startswith(b"HTTP/1.1 200 OK\r\n")
    for connection in slow:
        connection.close()


def test_the_answers_do_not_tell_the_software(web):
    for request in (PAGE, b"nonsense\r\n\r\n"):
        answer = whole(web(request)).lower()
        assert b"server:" not in answer and b"waitress" not in answer


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (HALF + b"X: " + b"x" * web_server.LONGEST_HEADER, 431),
        (b"POST /page HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n", 413),
        (
            b"POST /page HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
            400,
        ),
    ],
)
def test_what_is_too_long_or_ambiguous_is_refused(web, request_, status):
    assert whole(web(request_)).split(b" ")[1] == str(status).encode()


SECURE = PAGE.replace(
    b"Host: x", b"Host: x\r\nX-Forwarded-Proto: https\r\nX-Forwarded-For: 192.0.2.1"
)
ELSEWHERE = "127.0.0.2"


def test_the_scheme_and_the_client_are_what_the_proxy_says(web):
    assert whole(web(PAGE)).endswith(b"\r\n\r\nhttp ")
    assert whole(web(SECURE)).endswith(b"\r\n\r\nhttps 192.0.2.1")
    assert whole(web(SECURE, by=ELSEWHERE)).endswith(b"\r\n\r\nhttp 192.0.2.1")


def test_nothing_but_loopback_is_served_unless_it_is_named(web):
    with pytest.raises(ConnectionRefusedError):
        web(PAGE, to=ELSEWHERE)
    with running_web(ELSEWHERE, "*") as named:
        assert whole(named(PAGE)).endswith(b"\r\n\r\nhttp ")
        assert whole(named(SECURE, to=ELSEWHERE, by=ELSEWHERE)).endswith(b"https 192.0.2.1")
