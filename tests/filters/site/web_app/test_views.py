"""The web app: its manifest, its worker, and the shell that the worker keeps."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from filters.people.models import User
from filters.site.web_app import shell
from tests.support.browser.pages import Browser

SignIn = Callable[[User], Client]


def shell_of(client: Client) -> Any:
    first = client.get("/sw.js").content.decode().partition("\n")[0]
    found: dict[str, Any] = json.loads(first.removeprefix("const SHELL = ").rstrip(";"))
    return found


def test_the_manifest_has_icons_of_its_own(client: Client, db: None) -> None:
    response = client.get("/manifest.webmanifest")
    assert response.headers["Content-Type"] == "application/manifest+json"
    manifest = response.json()
    assert (manifest["start_url"], manifest["display"]) == ("/", "standalone")
    for icon in manifest["icons"]:
        content = b"".join(client.get(icon["src"]))
        assert content.startswith(b"\x89PNG" if icon["type"] == "image/png" else b"<svg")
    assert "any" in [icon["sizes"] for icon in manifest["icons"]]
    assert "maskable" in [icon["purpose"] for icon in manifest["icons"]]
    page = client.get("/sign-in/").content.decode()
    assert '<link rel="manifest" href="/manifest.webmanifest">' in page


def test_it_takes_mailto_links_and_leads_to_pages(as_user: SignIn, alice: User) -> None:
    client = as_user(alice)
    manifest = client.get("/manifest.webmanifest").json()
    assert manifest["protocol_handlers"] == [{"protocol": "mailto", "url": "/compose/?mailto=%s"}]
    pages = [shortcut["url"] for shortcut in manifest["shortcuts"]]
    assert pages == ["/", "/filters/new/", "/search/"]
    assert [client.get(page).status_code for page in pages] == [200, 200, 200]


def test_the_service_worker_is_at_the_root_and_never_old(as_user: SignIn, alice: User) -> None:
    for client in (Client(), as_user(alice)):
        response = client.get("/sw.js")
        assert response.headers["Content-Type"] == "text/javascript; charset=utf-8"
        assert response.headers["Service-Worker-Allowed"] == "/"
        assert response.headers["Cache-Control"] == "no-cache"
        policy = response.headers["Content-Security-Policy"]
        assert "worker-src 'self'" in policy and "manifest-src 'self'" in policy


def test_the_shell_is_the_same_for_everybody(as_user: SignIn, alice: User) -> None:
    stranger, member = Browser(), as_user(alice)
    kept = shell_of(member)
    assert kept == shell_of(stranger)
    pages = {client.get(str(kept["page"])).content for client in (stranger, member)}
    (page,) = pages
    assert b"You are offline" in page and b"alice" not in page and b"token" not in page


def test_the_shell_has_all_that_its_page_needs(client: Client, db: None) -> None:
    kept = shell_of(client)
    page = client.get("/offline/").content.decode()
    assert set(re.findall(r'(?:src|href)="(/[^"]+)"', page)) == set(kept["files"])
    for address in kept["files"]:
        assert "immutable" in client.get(address).headers["Cache-Control"], "its name has its hash"


def test_another_file_makes_another_shell(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shell_of(client)
    monkeypatch.setattr(shell, "static", lambda name: f"/static/{name}?changed")
    assert shell_of(client)["name"] != before["name"]


def test_the_worker_keeps_nothing_else() -> None:
    """Only one place adds to a cache: where the worker is installed."""
    static = Path(settings.BASE, "filters", "site", "static", "site")
    for script in static.glob("*.js"):
        text = script.read_text()
        assert not re.search(r"\.put\(|\bcaches\b", text) or script.name == "sw.js", script.name
    worker = (static / "sw.js").read_text()
    assert worker.count(".addAll(") == 1 and ".put(" not in worker and ".add(" not in worker
