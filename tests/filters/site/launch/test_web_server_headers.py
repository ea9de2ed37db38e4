"""Whatever the web server answers in place of the site has all headers that a page has."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Callable

import pytest
from django.test import Client
from support.servers.web import running_web

from filters.site.launch import web_server

SECURE = {"TAPESTRY_URL": "https://mail.example.org"}
BEGIN = b"GET /page HTTP/1.1\r\nHost: x\r\n"
FAILS = b"GET /fail HTTP/1.1\r\nHost: x\r\n\r\n"

REFUSED = {
    "two schemes": (BEGIN + b"X-Forwarded-Proto: ftp,,\r\n\r\n", 400),
    "a scheme that is none": (BEGIN + b"X-Forwarded-Proto: ftp\r\n\r\n", 400),
    "a quote that does not end": (BEGIN + b'X-Forwarded-Proto: "http\r\n\r\n', 400),
    "not HTTP": (b"nonsense\r\n\r\n", 400),
    "a body of no length": (BEGIN + b"Content-Length: x\r\n\r\n", 400),
    "a coding that is unknown": (BEGIN + b"Transfer-Encoding: x\r\n\r\n", 501),
    "a long body": (BEGIN + b"Content-Length: 999999999\r\n\r\n", 413),
    "a long header": (BEGIN + b"X: " + b"x" * web_server.LONGEST_HEADER, 431),
    "a defect": (FAILS, 500),
    "half a request": (BEGIN, 408),
}

Connect = Callable[[bytes], socket.socket]


@pytest.fixture(scope="module")
def web():
    with running_web(SECURE) as connect:
        yield connect


@pytest.fixture(scope="module")
def hasty_web():
    with running_web(SECURE, REQUEST_SECONDS=0.5) as connect:
        yield connect


@pytest.mark.parametrize("case", REFUSED)
def test_an_answer_in_place_of_the_site_has_the_headers_of_a_page(
    db: None, client: Client, settings, web: Connect, hasty_web: Connect, case: str
) -> None:
    settings.SECURE_HSTS_SECONDS = 2 * 365 * 24 * 3600
    page = client.get("/static/site/site.css", secure=True)
    expected = {
        name: value
        for name, value in page.headers.items()
        if name.endswith(("-Policy", "-Options", "-Security"))
    }
    assert len(expected) == 8
    request, status = REFUSED[case]
    answer = http.client.HTTPResponse((hasty_web if status == 408 else web)(request))
    answer.begin()
    assert answer.status == status
    assert {name: answer.headers.get_all(name) for name in expected} == {
        name: [value] for name, value in expected.items()
    }


def test_a_site_without_https_does_not_ask_for_it() -> None:
    with running_web({"TAPESTRY_URL": "http://127.0.0.1:8000"}) as connect:
        answer = http.client.HTTPResponse(connect(REFUSED["not HTTP"][0]))
        answer.begin()
    assert answer.headers["Referrer-Policy"] and not answer.headers["Strict-Transport-Security"]
