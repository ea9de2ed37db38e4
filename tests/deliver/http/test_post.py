"""POST to addresses that people name, with real servers on loopback."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import pytest
import trustme

from tapestry.deliver.http.post import Answer, NoAnswerError, post
from tapestry.servers.private_hosts import AddressRefusedError
from tests.support.servers.http_recorder import LOOPBACK, Reply, recording_server

AUTHORITY = trustme.CA()


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    AUTHORITY.cert_pem.write_to_path(str(path))
    return str(path)


@contextmanager
def talking_server(talk):
    """Listen on loopback and run ``talk(connection)`` for one client."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)

        def serve():
            with suppress(TimeoutError):
                connection, _address = listener.accept()
                with connection:
                    talk(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        thread.join()


@dataclass
class Dripping:
    """Send the beginning, then byte after byte for a minute, then the end of an answer."""

    before: bytes
    after: bytes
    is_cut: bool = False

    def __call__(self, connection):
        pause = threading.Event()
        try:
            connection.sendall(self.before)
            for _ in range(3000):
                pause.wait(0.02)
                connection.sendall(b"x")
            connection.sendall(self.after)
        except OSError:
            self.is_cut = True


def test_it_sends_what_it_is_given_and_returns_the_answer():
    with recording_server(Reply(200, "Thänks".encode())) as server:
        answer = post(server.url("/a?b=c"), b"body", {"X-Key": "value"}, allowed=LOOPBACK)
    assert answer == Answer(200, "Thänks", None)
    (request,) = server.requests
    assert (request.path, request.body) == ("/a?b=c", b"body")
    assert request.headers["X-Key"] == "value"
    assert request.headers["Host"] == f"127.0.0.1:{server.port}"


def test_a_private_host_gets_no_connection():
    with recording_server() as server:
        for url in (server.url(), server.url().replace("http:", "https:")):
            with pytest.raises(AddressRefusedError):
                post(url, b"", {}, allowed=[])
    assert server.requests == []


def test_the_name_is_looked_up_once_and_the_connection_is_made_to_what_was_checked():
    looked_up = []

    def resolve(host, port):
        looked_up.append((host, port))
        return ["127.0.0.1"] if len(looked_up) == 1 else ["127.0.0.2"]

    with recording_server() as server:
        url = server.url(host="rebinding.test")
        assert post(url, b"", {}, allowed=LOOPBACK, resolve=resolve).status == 204
    assert looked_up == [("rebinding.test", server.port)]
    assert server.requests[0].headers["Host"] == f"rebinding.test:{server.port}"


def test_a_name_that_is_bound_to_a_private_address_gets_no_connection():
    with recording_server() as server:
        url = server.url(host="rebinding.test").replace("http:", "https:")
        with pytest.raises(AddressRefusedError, match=r"rebinding\.test is not a public host"):
            post(url, b"", {}, allowed=[], resolve=lambda host, port: ["9.9.9.9", "127.0.0.1"])
    assert server.requests == []


def test_the_next_address_of_a_host_is_tried():
    with socket.socket() as closed, recording_server() as server:
        closed.bind(("127.0.0.1", 0))
        addresses = ["127.0.0.99", "127.0.0.1"]
        answer = post(
            server.url(host="two.test"),
            b"",
            {},
            allowed=["two.test"],
            resolve=lambda host, port: addresses,
        )
    assert answer.status == 204


def test_a_redirect_is_an_answer_and_is_not_followed():
    with recording_server() as other:
        moved = Reply(307, b"", {"Location": other.url()})
        with recording_server(moved) as server:
            assert post(server.url(), b"", {}, allowed=LOOPBACK).status == 307
    assert other.requests == []


def test_a_certificate_is_checked_for_the_name_not_for_the_address(ca):
    with recording_server(authority=AUTHORITY, host="hooks.test") as server:

        def post_to(host, ca):
            return post(
                server.url(host=host),
                b"",
                {},
                allowed=LOOPBACK,
                ca=ca,
                resolve=lambda host, port: ["127.0.0.1"],
            )

        assert post_to("hooks.test", ca).status == 204
        assert post_to("hooks.test.", ca).status == 204
        for host, authority in (("other.test", ca), ("hooks.test", None), ("127.0.0.1", ca)):
            with pytest.raises(NoAnswerError, match=f"certificate of {host} is not to be trusted"):
                post_to(host, authority)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"HTTP/1.1 200 OK\r\nX-Slow: ", b"\r\nContent-Length: 0\r\n\r\n"),
        (b"HTTP/1.1 100 Continue\r\n", b": 1\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"),
    ],
)
def test_a_server_that_sends_a_byte_now_and_then_is_left_at_the_deadline(before, after):
    talk = Dripping(before, after)
    with talking_server(talk) as url, pytest.raises(NoAnswerError, match=r"within 0\.5 seconds"):
        post(url, b"", {}, allowed=LOOPBACK, seconds=0.5)
    assert talk.is_cut


def test_an_answer_counts_once_its_status_is_there():
    talk = Dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 3100\r\n\r\n", b"x" * 100)
    with talking_server(talk) as url:
        answer = post(url, b"", {}, allowed=LOOPBACK, seconds=5)
    assert answer.status == 200
    assert talk.is_cut


def test_a_handshake_that_goes_nowhere_ends_at_the_deadline():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(NoAnswerError):
            post(url, b"", {}, allowed=LOOPBACK, seconds=0.3)


def test_a_name_server_that_does_not_answer_is_left_at_the_deadline():
    answered = threading.Event()

    def resolve(host, port):
        answered.wait()
        return ["127.0.0.1"]

    with pytest.raises(NoAnswerError):
        post("https://slow.test/", b"", {}, allowed=[], seconds=0.2, resolve=resolve)
    answered.set()


def test_the_sentence_does_not_tell_an_open_port_from_a_closed_one():
    def message(url, **options):
        with pytest.raises(NoAnswerError) as caught:
            post(url, b"", {}, allowed=LOOPBACK, seconds=2, **options)
        return caught.value.render()

    def unknown(host, port):
        raise OSError("no such host")

    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        told = {message(f"http://127.0.0.1:{closed.getsockname()[1]}/")}
    for talk in (
        lambda connection: connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n"),
        lambda connection: connection.recv(1),
        lambda connection: connection.sendall(b"HTTP/1.1 two OK\r\n\r\n"),
    ):
        with talking_server(talk) as url:
            told.add(message(url))
    with talking_server(lambda connection: connection.sendall(b"220 mail\r\n")) as url:
        told.add(message(url.replace("http:", "https:")))
    told.add(message("http://127.0.0.1/", resolve=unknown))
    assert told == {
        "127.0.0.1 gave no answer within 2 seconds.\n"
        "Check the address, and that its server takes a POST."
    }


def test_of_an_answer_the_first_thousand_bytes_are_read():
    with recording_server(Reply(500, b"a" * 100_000)) as server:
        answer = post(server.url(), b"", {}, allowed=LOOPBACK)
    assert answer.text == "a" * 1000


def test_an_answer_is_text_that_can_be_stored_and_shown():
    chunked = b"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n5\r\na\0\x1b\xffb\r\nzz\r\n"
    with talking_server(lambda connection: connection.sendall(chunked)) as url:
        answer = post(url, b"", {}, allowed=LOOPBACK)
    assert answer.status == 500
    assert set(answer.text) <= set("a b\N{REPLACEMENT CHARACTER}")


def test_it_says_when_to_come_back():
    later = Reply(503, b"", {"Retry-After": "120"})
    with recording_server(later, Reply(503, b"", {"Retry-After": "soon"})) as server:
        assert post(server.url(), b"", {}, allowed=LOOPBACK).retry_after == 120.0
        assert post(server.url(), b"", {}, allowed=LOOPBACK).retry_after is None


def test_an_unknown_status_has_a_summary():
    assert Answer(599, " a\n b ").summary == "599: a b"
    assert Answer(204, "").summary == "204 No Content"


def test_a_file_of_authorities_that_is_missing_is_not_taken_for_no_answer():
    with pytest.raises(FileNotFoundError):
        post("https://127.0.0.1/", b"", {}, allowed=LOOPBACK, ca="/nowhere/ca.pem")
