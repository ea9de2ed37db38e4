"""Autoconfig files: what a good one says, and what a hostile one does not do."""

import socket
import time
from functools import partial

import pytest
import trustme

from tapestry.servers.discovery.autoconfig import MOST_BYTES, autoconfig, read_autoconfig
from tapestry.servers.web_request import get_over_https
from tests.support.paths import FIXTURES
from tests.support.servers.http_recorder import LOOPBACK, Reply, recording_server

AUTHORITY = trustme.CA()
HOST = "autoconfig.x.org"
GOOD = b"""<?xml version="1.0" encoding="UTF-8"?>
<clientConfig version="1.1"><emailProvider id="x.org"><domain>x.org</domain>
<incomingServer type="imap"><hostname>imap.%EMAILDOMAIN%</hostname><port>993</port>
<socketType>SSL</socketType><username>%EMAILADDRESS%</username></incomingServer>
</emailProvider></clientConfig>"""


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    AUTHORITY.cert_pem.write_to_path(str(path))
    return str(path)


@pytest.fixture
def fetch(ca):
    """Ask for an address, whose host is this machine."""
    return partial(
        get_over_https,
        allowed=LOOPBACK,
        seconds=60.0,
        most_bytes=MOST_BYTES,
        ca=ca,
        resolve=lambda _host, _port: ["127.0.0.1"],
    )


def test_files(datadriven):
    def evaluate(case):
        protocol = case.args.get("protocol", "imap")
        domain = case.args.get("domain", "x.org")
        found = read_autoconfig(case.input.encode(), domain, protocol)
        if found is None:
            return "nothing"
        user = found.user_of(f"joe@{domain}")
        return f"{found.host}:{found.port} {found.security} {found.method} {user}"

    datadriven(FIXTURES / "servers" / "autoconfig.test", evaluate)


def test_a_file_is_fetched_without_the_address_of_anybody(fetch):
    with recording_server(Reply(200, GOOD), authority=AUTHORITY, host=HOST) as server:
        places = [server.url("/mail/config-v1.1.xml", host="autoconfig.{domain}")]
        found = autoconfig("x.org", "imap", fetch, places)
    assert (found.host, found.port, found.security) == ("imap.x.org", 993, "tls")
    (request,) = server.requests
    assert (request.path, request.body) == ("/mail/config-v1.1.xml", b"")
    assert "joe" not in str(request.headers)


def test_the_second_place_is_asked_where_the_first_has_nothing(fetch):
    replies = [Reply(404, b"no"), Reply(200, GOOD)]
    with recording_server(*replies, authority=AUTHORITY, host=HOST) as server:
        places = [server.url(path, host=HOST) for path in ("/a", "/b")]
        assert autoconfig("x.org", "imap", fetch, places) is not None
    assert [request.path for request in server.requests] == ["/a", "/b"]


def test_a_huge_file_is_not_read(fetch):
    with recording_server(
        Reply(200, GOOD + b" " * MOST_BYTES), authority=AUTHORITY, host=HOST
    ) as server:
        assert fetch(server.url(host=HOST)) is None
    assert read_autoconfig(GOOD + b" " * MOST_BYTES, "x.org", "imap") is None


def test_plain_http_is_not_asked_though_the_host_is_allowed(fetch):
    with recording_server(Reply(200, GOOD)) as server:
        assert fetch(server.url(host=HOST)) is None
    assert server.requests == []


def test_a_redirect_leads_to_https_and_to_hosts_that_may_be_reached(fetch):
    with (
        recording_server(Reply(200, GOOD)) as plain,
        recording_server(Reply(200, GOOD), authority=AUTHORITY, host=HOST) as good,
    ):

        def led_to(location, **options):
            reply = Reply(302, b"", {"Location": location})
            with recording_server(reply, authority=AUTHORITY, host=HOST) as first:
                return fetch(first.url(host=HOST), **options)

        assert led_to(good.url("/there", host=HOST)) == GOOD
        assert led_to(plain.url(host=HOST)) is None
        assert led_to("") is None and led_to("//[") is None
        # Only the first host may be reached.
        inside = good.url(host="10.0.0.1.x.org")
        to_inside = {HOST: "127.0.0.1", "10.0.0.1.x.org": "10.0.0.1"}
        assert led_to(inside, resolve=lambda host, _port: [to_inside[host]]) is None
    assert plain.requests == [] and [request.path for request in good.requests] == ["/there"]


def test_redirects_in_a_circle_end(fetch):
    replies = [Reply(301, b"", {"Location": "/again"})]
    with recording_server(*replies, authority=AUTHORITY, host=HOST) as server:
        assert fetch(server.url(host=HOST)) is None
    assert len(server.requests) == 4


def test_a_host_inside_is_not_asked(fetch):
    with recording_server(Reply(200, GOOD), authority=AUTHORITY, host=HOST) as server:
        assert fetch(server.url(host=HOST), allowed=[]) is None
    assert server.requests == []


def test_a_certificate_of_another_host_is_not_trusted(fetch):
    with recording_server(Reply(200, GOOD), authority=AUTHORITY, host="else.org") as server:
        assert fetch(server.url(host=HOST)) is None
    assert server.requests == []


def test_a_server_that_does_not_answer_is_left_at_the_deadline(fetch):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        begun = time.monotonic()
        assert fetch(f"https://{HOST}:{silent.getsockname()[1]}/", seconds=0.3) is None
        assert time.monotonic() - begun < 30
