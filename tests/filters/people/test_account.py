"""Signing in and out, and what a person says of themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from uuid import UUID

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, reverse

from filters.people import people
from filters.people.models import User
from tapestry.urls import urlpatterns

SignIn = Callable[[User], Client]


def test_one_signs_in_and_out(client: Client, alice: User) -> None:
    assert "Sign in" in client.get("/sign-in/").content.decode()
    response = client.post("/sign-in/", {"username": "alice", "password": "secret"})
    assert response["Location"] == "/"
    assert client.get("/").status_code == 200
    assert client.post("/sign-out/").status_code == 302
    assert client.get("/").status_code == 302


def test_a_wrong_password_is_refused_in_one_sentence(client: Client, alice: User) -> None:
    response = client.post("/sign-in/", {"username": "alice", "password": "wrong"})
    assert "Wrong name or password." in response.content.decode()


def test_signing_in_goes_where_one_was_going_but_not_elsewhere(client: Client, alice: User) -> None:
    given = {"username": "alice", "password": "secret"}
    response = client.post("/sign-in/", {**given, "next": "/filters/"})
    assert response["Location"] == "/filters/"
    client.logout()
    response = client.post("/sign-in/", {**given, "next": "https://evil.example/"})
    assert response["Location"] == "/"


def test_the_sign_out_link_alone_does_nothing(as_user: SignIn, alice: User) -> None:
    assert as_user(alice).get("/sign-out/").status_code == 405


def test_what_one_says_of_oneself_is_stored(as_user: SignIn, carol: User) -> None:
    client = as_user(carol)
    given = {"aliases": "Carol@Y.org\n\nc@z.org", "time_zone": "Asia/Tokyo"}
    assert client.post("/me/", given).status_code == 302
    carol = User.objects.get(pk=carol.pk)
    assert people.addresses(carol) == ("carol@example.org", "carol@y.org", "c@z.org")
    assert carol.zone.key == "Asia/Tokyo"
    page = client.get("/me/").content.decode()
    assert "carol@y.org" in page and "Your other addresses" in page


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"aliases": "nonsense"}, "nonsense is not an address."),
        ({"time_zone": "Moon/Base"}, "Select a valid choice"),
    ],
)
def test_nonsense_is_refused(
    as_user: SignIn, carol: User, wrong: dict[str, str], sentence: str
) -> None:
    given = {"aliases": "", "time_zone": "UTC", **wrong}
    response = as_user(carol).post("/me/", given)
    assert response.status_code == 400
    assert sentence in response.content.decode()


def test_a_user_without_a_profile_has_one_when_it_is_needed(as_user: SignIn, db: None) -> None:
    new = User.objects.create_user("new", "new@example.org", "secret")
    assert new.zone.key == "UTC"
    assert people.addresses(new) == ("new@example.org",)
    assert as_user(new).get("/me/").status_code == 200


def test_the_audiences_of_people(alice: User, carol: User) -> None:
    assert people.audiences(alice) == ("public", "user:alice", "group:parc")
    assert people.audiences(carol) == ("public", "user:carol")
    assert people.audiences(None) == ("public",)


OPEN = {
    *("sign-in", "sign-out", "healthz", "act", "bounces", "unsubscribe", "confirm"),
    "api-description",
    *("jmap", "jmap-api", "jmap-download", "jmap-upload", "jmap-event-source"),
    *("feed", "feed-calendar", "manifest", "service-worker"),
    *("forgot", "reset-password", "sign-up", "make-account", "account-deleted"),
    *("offline", "operator", "evaluation-groups", "invitations", "set-aside"),
}
"""Pages that need no sign-in; a signed token, or nothing, is their permission.

Those of the operator do not exist for anybody but the staff.
"""


def pages(patterns: list[URLPattern | URLResolver]) -> Iterator[URLPattern]:
    """Yield the pages of the apps, without the administration and the calls of the API."""
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            yield pattern
        elif pattern.namespace not in ("admin", "api-1"):
            yield from pages(pattern.url_patterns)


@pytest.mark.parametrize("page", [page for page in pages(urlpatterns) if page.name])
def test_every_page_is_closed_unless_it_says_otherwise(
    client: Client, db: None, page: URLPattern
) -> None:
    values = {
        "name": "x",
        "pk": 1,
        "task": UUID(int=0),
        "step": UUID(int=0),
        "action": "done",
        "act": "vote",
        "token": "x",
        "kind": "digest",
        "key": "x",
        "uid": UUID(int=0),
        "account": "x",
        "blob": "x",
    }
    address = reverse(page.name, kwargs={key: values[key] for key in page.pattern.converters})
    asks = client.get(address).headers.get("Location", "").startswith("/sign-in/?next=")
    assert asks == (page.name not in OPEN)
