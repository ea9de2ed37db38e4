"""A page that still asks by htmx once its reader has signed out: it goes to sign in, and back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.urls import resolve

from filters.people.models import User

SHOWN = "http://testserver/in/jones/?page=2"
LEADS_BACK = "/sign-in/?next=%2Fin%2Fjones%2F%3Fpage%3D2"
ASKED_BY_NAME = re.compile(r"""(?:hx-get|hx-post|data-complete)="{% url '([^']+)'""")
ASKED_OTHERWISE = {
    "inbox",
    "filter",
    "filter-retracted",
    "message",
    "letter",
    "standing",
    "source",
    "destination",
    "trial",
}
"""What the templates ask for by an address that a tag or a model gives."""

OF_STAFF = {"operator", "evaluation-groups", "invitations"}
"""Pages that do not exist for anybody else, signed out or not."""


def asked_by_htmx() -> set[str]:
    """Return the names of the addresses that templates ask for by htmx."""
    pages = (page.read_text() for page in Path(settings.BASE, "templates").rglob("*.html"))
    return {name for page in pages for name in ASKED_BY_NAME.findall(page)} | ASKED_OTHERWISE


def test_every_part_of_a_page_sends_the_page_to_sign_in(addresses: dict[str, str]) -> None:
    client = Client(enforce_csrf_checks=True)
    headers = {"HX-Request": "true", "HX-Current-URL": SHOWN}
    seen = set()
    for address in addresses.values():
        plain = client.get(address)
        if not plain.headers.get("Location", "").startswith("/sign-in/"):
            continue
        seen.add(resolve(address.partition("?")[0]).url_name)
        for method in ("get", "post"):
            response = getattr(client, method)(address, headers=headers)
            assert (response.status_code, response.content) == (200, b""), f"{method} {address}"
            assert response["HX-Redirect"] == LEADS_BACK, f"{method} {address}"
    assert asked_by_htmx() - OF_STAFF <= seen and len(asked_by_htmx()) > 10


def test_somebody_signed_in_is_sent_nowhere(alice: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    for response in (client.get("/", headers={"HX-Request": "true"}), client.post("/read/")):
        assert "HX-Redirect" not in response.headers


def test_signing_in_leads_back(alice: User, client: Client) -> None:
    answer = {"username": "alice", "password": "secret", "next": "/in/jones/?page=2"}
    assert client.post("/sign-in/", answer)["Location"] == "/in/jones/?page=2"


@pytest.mark.parametrize(
    "shown",
    [
        "",
        "http://evil.example/in/jones/",
        "http://testserver//evil.example/x",
        "javascript:x",
        "///evil.example/x",
    ],
)
def test_nobody_is_led_to_another_site(db: None, client: Client, shown: str) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": shown}
    assert client.get("/sidebar/", headers=headers)["HX-Redirect"] == "/sign-in/?next=%2F"


def test_the_sign_in_form_leads_to_no_other_site(alice: User, client: Client) -> None:
    answer = {"username": "alice", "password": "secret", "next": "//evil.example/x"}
    assert client.post("/sign-in/", answer)["Location"] == "/"
