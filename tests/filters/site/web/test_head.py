"""HEAD: what GET answers, without its body."""

from __future__ import annotations

import http.client
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.test import Client

from filters.inbox.models import Match
from filters.people.models import User
from tapestry.core.processes.child_process import free_port
from tests.support.answers.crawled import Answer, Crawled
from tests.support.paths import ROOT
from tests.support.servers.site import environment_for

SignIn = Callable[[User], Client]

CHANGING = ("Content-Length", "Expires", "HX-Trigger-After-Settle", "Last-Modified")
"""Headers that differ: with the token of a page, the second, and what was new."""

SHOWN = {"stranger": 8, "carol": 16, "alice": 30, "staff": 60}
"""At least so many addresses have something for each."""


@pytest.mark.parametrize(
    "who",
    [
        "stranger",
        "alice",
        *(pytest.param(who, marks=pytest.mark.long) for who in ("carol", "staff")),
    ],
)
def test_every_address_answers_it_as_get(crawled: Crawled, who: str) -> None:
    shown = 0
    heads = crawled(who, "head")
    for route, got in crawled(who, "get").items():
        head = heads[route]
        assert head.status == got.status, route
        assert head.content == b"", route
        assert headers_of(head) == headers_of(got), route
        shown += got.status == 200
    assert shown >= SHOWN[who]


def headers_of(answer: Answer) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name not in CHANGING}


@pytest.mark.parametrize("address", ["message/", "/"])
def test_it_marks_nothing_as_read(
    addresses: dict[str, str], browsers: dict[str, Client], address: str
) -> None:
    address = addresses.get(address, "/?open=plan@example.org")
    browsers["alice"].head(address)
    assert Match.objects.get().read_at is None
    browsers["alice"].get(address)
    assert Match.objects.get().read_at is not None


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[http.client.HTTPConnection]:
    """A connection to the site behind its own web server."""
    port = free_port()
    argv = [sys.executable, "-m", "filters.site.launch.web_server", str(port)]
    process = subprocess.Popen(argv, cwd=ROOT, env=environment_for(tmp_path))
    opened = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        while process.poll() is None:
            try:
                opened.connect()
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        yield opened
    finally:
        opened.close()
        process.terminate()
        process.wait(60)


def test_a_connection_goes_on_after_it(connection: http.client.HTTPConnection) -> None:
    """A body that nobody expects would be taken for the next answer."""
    for path in ("/manifest.webmanifest", "/sw.js", "/static/site/site.css"):
        connection.request("HEAD", path)
        head = connection.getresponse()
        assert (head.status, head.read()) == (200, b"")
        connection.request("GET", path)
        got = connection.getresponse()
        length = len(got.read())
        assert got.status == 200 and head.headers["Content-Length"] == str(length) != "0"
        assert got.headers["Server"] is None and got.headers["Permissions-Policy"]
