"""Slow clients of the web server: real sockets, the settings of `up`."""

import socket
from contextlib import suppress

import pytest
from support.servers.web import LARGE, running_web

from filters.site.launch import web_server

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
    # No time of it is over while a test connects slow clients on a slow machine.
    with running_web(IDLE_SECONDS=600, REQUEST_SECONDS=600) as connect:
        yield connect


def test_slow_clients_keep_nobody_waiting(web):
    slow = [web(HALF) for _ in range(200)]
    slow += [web(HALF_BODY) for _ in range(50)]
    slow += [web(READS_NOTHING, window=4096) for _ in range(50)]
    for reader in slow[-50:]:
        assert reader.recv(1) == b"H"  # it has a thread's answer, and reads no further
    assert whole(web(PAGE)).startswith(b"HTTP/1.1 200 OK\r\n")
    for connection in slow:
        connection.close()


def test_more_slow_clients_than_connections_make_room_for_the_next(web):
    slow = [web(HALF) for _ in range(web_server.MOST_CONNECTIONS + 100)]
    assert whole(web(PAGE)).startswith(b"HTTP/1.1 200 OK\r\n")
    assert whole(slow[0]) == b"", "the first of them was closed for the last"
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
            b"POST /page HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400,
        ),
        (b"POST /page HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (
            b"POST /page HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
            400,
        ),
    ],
)
def test_what_is_too_long_or_ambiguous_is_refused(web, request_, status):
    assert whole(web(request_)).split(b" ")[1] == str(status).encode()


def test_what_is_too_long_is_refused_in_words(web):
    answer = whole(web(b"POST /page HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n"))
    assert b"A request may have at most 16 MiB. Nothing was changed" in answer


def test_the_scheme_and_the_client_are_what_the_proxy_says(web):
    assert whole(web(PAGE)).endswith(b"\r\n\r\nhttp ")
    secure = PAGE.replace(
        b"Host: x", b"Host: x\r\nX-Forwarded-Proto: https\r\nX-Forwarded-For: 192.0.2.1"
    )
    assert whole(web(secure)).endswith(b"\r\n\r\nhttps 192.0.2.1")


def test_a_request_that_takes_too_long_is_answered_with_408():
    with running_web(REQUEST_SECONDS=0.5) as connect:
        for begun in (HALF, HALF_BODY):
            connection = connect(begun)
            assert b" 408 Request Timeout\r\n" in whole(connection)


def test_bytes_now_and_then_do_not_keep_a_request_alive():
    with running_web(REQUEST_SECONDS=1.0) as connect:
        connection = connect(HALF)
        connection.settimeout(0.1)
        answer = b""
        while not answer:
            with suppress(TimeoutError):
                answer = connection.recv(4096)
                continue
            connection.sendall(b"X: y\r\n")
        assert b" 408 " in answer


def test_a_response_that_is_read_too_slowly_is_cut():
    with running_web(RESPONSE_SECONDS=0.3, REQUEST_SECONDS=1.0) as connect:
        reader = connect(READS_NOTHING, window=4096)
        assert reader.recv(1) == b"H"
        assert b" 408 " in whole(connect(HALF)), "by then the time of the response is over"
        assert len(whole(reader)) < LARGE


def test_a_connection_without_a_request_is_closed():
    with running_web(IDLE_SECONDS=0.5) as connect:
        assert whole(connect()) == b""
        assert whole(connect(PAGE.replace(b"close", b"keep-alive"))).endswith(b"http ")
