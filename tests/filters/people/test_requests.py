"""Where a request says that it leads on: a path of this site from its root, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from filters.people.models import User
from filters.people.requests import local_path
from tests.support.people.second_factors import PASSWORD, code, give_app, give_password

SignIn = Callable[[User], Client]

OTHERS = [
    *("", "foo", "security", "foo/bar", "foo.html", "./x", "../x", "?page=2", "#x", "%2Fx"),
    *("//evil.example/", "///evil.example/", "/\\evil.example/", "\\\\evil.example/", "/\t/evil/"),
    *("https://evil.example/", "http://testserver/x", "javascript:alert(1)", " /x", "//["),
]
HERE = ["/", "/in/jones/?page=2", "/message/?id=a%40b&in=public", "/x/#part"]


@pytest.mark.parametrize("given", HERE)
def test_a_path_of_this_site_is_followed(given: str) -> None:
    assert local_path(given, "inbox") == given


@pytest.mark.parametrize("given", OTHERS)
def test_anything_else_leads_to_the_page_that_is_usual(given: str) -> None:
    assert local_path(given, "security") == "/me/security/"


@pytest.mark.parametrize("given", ["foo", "security", "//evil.example/"])
@pytest.mark.parametrize(
    ("address", "more", "usual"),
    [
        ("/me/confirm/", {"password": PASSWORD}, "/me/security/"),
        ("/feeds/make/", {}, "/feeds/"),
        ("/message/typeface/", {"type": "mono"}, "/"),
        ("/read/", {}, "/"),
    ],
)
def test_every_form_that_leads_on_answers_so(
    alice: User, as_user: SignIn, address: str, more: dict[str, Any], usual: str, given: str
) -> None:
    answer = as_user(alice).post(address, {**more, "next": given})
    assert (answer.status_code, answer["Location"]) == (302, usual)


@pytest.mark.parametrize("given", ["foo", "security", "//evil.example/"])
def test_signing_in_leads_to_no_other_address(alice: User, as_user: SignIn, given: str) -> None:
    assert give_password(Client(), alice, next=given) == "/"
    assert as_user(alice).get(f"/sign-in/?next={given}")["Location"] == "/"
    give_app(alice)
    browser = Client()
    give_password(browser, alice, next=given)
    answer = browser.post(f"/sign-in/code/?next={given}", {"code": code()})
    assert (answer.status_code, answer["Location"]) == (302, "/")


@pytest.mark.parametrize("given", ["foo", "security"])
def test_a_part_of_a_page_of_somebody_signed_out_leads_to_no_other_address(
    db: None, client: Client, given: str
) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": given}
    assert client.get("/sidebar/", headers=headers)["HX-Redirect"] == "/sign-in/?next=%2F"
