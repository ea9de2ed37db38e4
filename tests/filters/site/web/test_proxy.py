"""Signing in behind a web server with TLS, and without one."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from filters.people.models import User
from tapestry import settings as own_settings

Serve = Callable[[str], None]

TAKEN = (
    "ALLOWED_HOSTS",
    "CSRF_TRUSTED_ORIGINS",
    "SESSION_COOKIE_SECURE",
    "CSRF_COOKIE_SECURE",
)


@pytest.fixture
def serve(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Serve:
    """Let the site be as TAPESTRY_HOSTS has it."""

    def as_hosts(names: str) -> None:
        monkeypatch.setenv("TAPESTRY_HOSTS", names)
        read = runpy.run_path(own_settings.__file__)
        for name in TAKEN:
            setattr(settings, name, read[name])

    return as_hosts


def sign_in(host: str, origin: str, *, secure: bool = False) -> Client:
    """Sign in with a browser at ``origin``; what is passed on to the site comes without TLS."""
    browser = Client(enforce_csrf_checks=True, headers={"Host": host})
    browser.get("/sign-in/", secure=secure)
    token = browser.cookies["tapestry_csrf"].value
    given = {"username": "alice", "password": "secret", "csrfmiddlewaretoken": token}
    response = browser.post("/sign-in/", given, secure=secure, headers={"Origin": origin})
    assert response.status_code == 302, response.content.decode()
    return browser


@pytest.mark.parametrize(
    ("names", "host"),
    [
        ("mail.example.org", "mail.example.org"),
        ("other.example.org, .example.com", "mail.example.com"),
        (".example.com", "example.com"),
    ],
)
def test_behind_tls_one_signs_in_and_cookies_go_over_tls_only(
    alice: User, serve: Serve, names: str, host: str
) -> None:
    serve(names)
    browser = sign_in(host, f"https://{host}")
    assert all(browser.cookies[f"tapestry_{name}"]["secure"] for name in ("session", "csrf"))


@pytest.mark.parametrize("names", ["*", "mail.example.org"])
def test_another_port_does_where_the_scheme_is_passed_on(
    alice: User, serve: Serve, names: str
) -> None:
    """What the web server makes of X-Forwarded-Proto: https."""
    serve(names)
    host = "mail.example.org:8443"
    sign_in(host, f"https://{host}", secure=True)


def test_on_loopback_alone_no_tls_is_needed(alice: User, serve: Serve) -> None:
    serve("")
    browser = sign_in("127.0.0.1:8000", "http://127.0.0.1:8000")
    assert not browser.cookies["tapestry_session"]["secure"]
