"""A person changes their own password, to one that is not guessed."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.test import Client

from filters.people.models import User
from filters.sample import people

SignIn = Callable[[User], Client]

NEW = "three quiet looms"


def given(old: str = "secret", new: str = NEW, again: str | None = None) -> dict[str, str]:
    return {"old_password": old, "new_password1": new, "new_password2": again or new}


def is_signed_in(client: Client) -> bool:
    return client.get("/me/").status_code == 200


def test_the_page_of_a_person_leads_there(as_user: SignIn, alice: User) -> None:
    client = as_user(alice)
    assert 'href="/me/password/"' in client.get("/me/").content.decode()
    page = client.get("/me/password/").content.decode()
    assert page.count('type="password"') == 3
    assert 'autocomplete="current-password"' in page and 'autocomplete="new-password"' in page


def test_it_is_changed_and_only_this_session_stays(as_user: SignIn, alice: User) -> None:
    here, elsewhere, stranger = as_user(alice), as_user(alice), Client()
    response = here.post("/me/password/", given(), follow=True)
    assert response.redirect_chain == [("/me/", 302)]
    assert "Your password is changed." in response.content.decode()
    assert is_signed_in(here) and not is_signed_in(elsewhere)
    signing_in = {"username": "alice", "password": "secret"}
    assert stranger.post("/sign-in/", signing_in).status_code == 200
    assert stranger.post("/sign-in/", {**signing_in, "password": NEW}).status_code == 302


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (given(old="guessed"), "That is not your password."),
        (given(again="three quiet lambs"), "The two passwords are not the same."),
        (given(new="alice12345"), "This password is little more than a name."),
        (given(new="alice@example.org"), "The password is too similar to the"),
        (given(new="8 letters"), "It must contain at least 10 characters."),
        (given(new="password12345"), "This password is too common."),
        (given(new="58203741969"), "This password is entirely numeric."),
        (given(new="aaaaaaaaab"), "It must have at least 5 different characters."),
        (given(new="AbababABAB"), "It must have at least 5 different characters."),
    ],
)
def test_what_will_not_do_is_said_and_nothing_is_changed(
    as_user: SignIn, alice: User, wrong: dict[str, str], sentence: str
) -> None:
    response = as_user(alice).post("/me/password/", wrong)
    assert (response.status_code, response.content.decode().count(sentence)) == (400, 1)
    alice.refresh_from_db()
    assert alice.check_password("secret")


def test_a_session_that_was_left_open_does_not_guess_the_password(
    as_user: SignIn, alice: User
) -> None:
    client = as_user(alice)
    for _ in range(5):
        assert client.post("/me/password/", given(old="guessed")).status_code == 400
    refused = client.post("/me/password/", given())
    assert refused.status_code == 429 and int(refused["Retry-After"]) > 290
    assert "Too many wrong passwords: please try again in 5 minutes." in refused.content.decode()
    assert not User.objects.get(pk=alice.pk).check_password(NEW)


def test_the_administration_has_no_page_for_it_without_limits(as_user: SignIn, db: None) -> None:
    root = User.objects.create_superuser("root", "root@example.org", "secret")
    response = as_user(root).post("/admin/password_change/", given())
    assert (response.status_code, response["Location"]) == (302, "/me/password/")


@pytest.mark.parametrize(
    "password",
    [
        "terry123",
        "terry12345",
        "Terry.2026!",
        "terryterryterry",
        "goodwin-terry-1",
        "t.goodwin1992",
    ],
)
def test_a_password_like_the_name_will_not_do(password: str) -> None:
    person = User(username="terry", last_name="Goodwin", email="t.goodwin@example.org")
    with pytest.raises(ValidationError):
        validate_password(password, person)


@pytest.mark.parametrize("password", ["terry has looms", "good wind, no rain", "aloof wintry mix"])
def test_one_with_more_than_the_name_will_do(password: str) -> None:
    validate_password(password, User(username="terry", first_name="Al", last_name="Goodwin"))


def test_those_of_the_demo_will_do(db: None, tmp_path: Path) -> None:
    for name, password in people.settle(tmp_path / "sample" / "people.json").items():
        validate_password(password, User.objects.get(username=name))


def test_an_administrator_gives_no_other_ones(as_user: SignIn, db: None) -> None:
    root = User.objects.create_superuser("root", "root@example.org", "secret")
    new = {"username": "terry", "usable_password": "true"}
    for password, there in (("terry12345", False), (secrets.token_hex(8), True)):
        as_user(root).post(
            "/admin/people/user/add/", {**new, "password1": password, "password2": password}
        )
        assert User.objects.filter(username="terry").exists() is there


def test_what_an_administrator_changes_meanwhile_stays(
    as_user: SignIn, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dismiss(*_: object) -> str:
        User.objects.filter(pk=alice.pk).update(is_active=False)
        return ""

    monkeypatch.setattr("filters.people.membership.views.password.this_browser", dismiss)
    as_user(alice).post("/me/password/", given())
    alice.refresh_from_db()
    assert alice.check_password(NEW) and not alice.is_active
