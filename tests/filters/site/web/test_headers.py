"""The headers of every response, as Mozilla's HTTP Observatory wants them for an A+."""

from __future__ import annotations

import re
import runpy
from itertools import product
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client

from filters.delivery.views import framed
from filters.people.models import User
from filters.site.web import headers
from tapestry import settings as own_settings
from tests.support.answers.crawled import Crawled

EXPECTED = {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": headers.PERMISSIONS,
}
FRAMED = ("mail/<int:pk>/html/", "delivery/<int:pk>/preview/html/")

FROM_TAPESTRY_URL = ("SECURE_HSTS_SECONDS", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE")


def check(response: Any, where: str, *, is_framed: bool = False) -> None:
    has = response.headers
    assert {name: has.get(name) for name in EXPECTED} == EXPECTED, where
    assert has["Referrer-Policy"] in ("same-origin", "no-referrer"), where
    assert has["Content-Security-Policy"] == (framed.POLICY if is_framed else headers.POLICY), where
    assert has["X-Frame-Options"] == ("SAMEORIGIN" if is_framed else "DENY"), where
    assert "Server" not in has, where


@pytest.mark.parametrize(
    ("who", "method"),
    [
        *product(["stranger", "carol", "alice"], ["get", "post"]),
        ("staff", "get"),
        pytest.param("staff", "post", marks=pytest.mark.long),
    ],
)
def test_every_response_of_every_address_has_them(crawled: Crawled, who: str, method: str) -> None:
    answers = crawled(who, method)
    assert len(answers) > 100 and "admin/login/" in answers
    for route, answer in answers.items():
        is_framed = route in FRAMED and answer.status == 200
        check(answer, f"{who} {method} {route}", is_framed=is_framed)


@pytest.mark.parametrize(
    "path", ["site/site.css", "site/push.js", "site/icon.svg", "admin/css/base.css"]
)
def test_static_files_have_them(db: None, client: Client, path: str) -> None:
    response = client.get(f"/static/{path}")
    assert response.status_code == 200
    check(response, path)


def test_a_static_file_of_another_version_is_that_of_this_one_for_a_minute(client: Client) -> None:
    now, other = (client.get(f"/static/site/site{hash}.css") for hash in ("", ".0123456789ab"))
    assert other.status_code == 200
    assert other.getvalue() == now.getvalue()
    assert other["Cache-Control"] == now["Cache-Control"] == "max-age=60, public"
    assert client.get("/static/nothing.0123456789ab.css").status_code == 404


def test_errors_have_them(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def defect(*_: object) -> None:
        raise ZeroDivisionError

    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    answers = [
        (400, client.get("/sign-in/", headers={"Host": "evil.example"})),
        (403, client.post("/sign-in/")),
        (404, client.get("/nothing/here")),
        (404, client.get("/static/nothing.css")),
        (405, client.options("/manifest.webmanifest")),
    ]
    monkeypatch.setattr("filters.site.web_app.views.worker_script", defect)
    answers.append((500, client.get("/sw.js")))
    for status, response in answers:
        assert response.status_code == status
        check(response, str(status))


def test_an_answer_of_any_status_has_them() -> None:
    for status in (200, 204, 304, 413, 429, 503):
        page = headers.of_every_answer(lambda _, status=status: HttpResponse(status=status))
        assert headers.HEADERS.items() <= page(HttpRequest()).headers.items()


def test_nothing_is_allowed_that_no_page_needs() -> None:
    directives = dict(part.split(" ", 1) for part in headers.POLICY.split("; "))
    assert directives["default-src"] == "'none'"
    assert re.fullmatch(r"'self' 'sha256-[\w+/]{43}='", directives.pop("script-src"))
    assert set(directives.values()) == {"'none'", "'self'"}
    allowed = {part for part in headers.PERMISSIONS.split(", ") if not part.endswith("=()")}
    passkeys = {f"publickey-credentials-{act}=(self)" for act in ("create", "get")}
    assert allowed == {"clipboard-write=(self)"} | passkeys
    assert "camera=()" in headers.PERMISSIONS


@pytest.mark.parametrize("address", ["https://mail.example.org", "http://127.0.0.1:8000"])
def test_a_site_with_https_is_asked_for_with_https_alone(
    alice: User, settings: Any, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("TAPESTRY_URL", address)
    read = runpy.run_path(own_settings.__file__)
    for name in FROM_TAPESTRY_URL:
        setattr(settings, name, read[name])
    is_https = address.startswith("https")
    client = Client()
    page = client.get("/sign-in/", secure=is_https)
    hsts = page.headers.get("Strict-Transport-Security")
    assert hsts == ("max-age=63072000" if is_https else None)
    given = {"username": "alice", "password": "secret"}
    assert client.post("/sign-in/", given, secure=is_https).status_code == 302
    for name in ("tapestry_session", "tapestry_csrf"):
        cookie = client.cookies[name]
        assert cookie["httponly"] and cookie["samesite"] == "Lax"
        assert bool(cookie["secure"]) is is_https
