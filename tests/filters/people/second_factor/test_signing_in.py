"""Signing in with a second step: until it is done, one is nobody to every page."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.test import Client
from limits import RateLimitItemPerMinute

from filters.people.models import User
from filters.people.second_factor import recovery, stage, totp, verification
from filters.people.second_factor.forms import WRONG_CODE
from tapestry.core.clock import MINUTE, wall_clock
from tests.support.people.second_factors import code, give_app, give_password, wrong_code
from tests.support.processes.process_memory import forget_tries


@pytest.fixture
def careful(alice: User) -> User:
    """Return alice, who has an app."""
    give_app(alice)
    return alice


def is_signed_in(client: Client) -> bool:
    return client.get("/me/").status_code == 200


def test_the_password_alone_opens_no_page(client: Client, careful: User) -> None:
    assert give_password(client, careful, next="/filters/") == "/sign-in/code/?next=%2Ffilters%2F"
    assert client.get("/me/")["Location"] == "/sign-in/?next=/me/"
    assert client.get("/sign-in/?next=/me/")["Location"] == "/sign-in/code/?next=%2Fme%2F"
    assert client.post("/me/password/", {}).status_code == 302
    asked = client.get("/sidebar/", headers={"HX-Request": "true"})
    assert asked["HX-Redirect"].startswith("/sign-in/")
    page = client.get("/sign-in/code/?next=/filters/").content.decode()
    assert "One more step, alice" in page and "Use a passkey" not in page


def test_the_code_does_and_leads_on(client: Client, careful: User) -> None:
    give_password(client, careful)
    before = client.session.session_key
    answer = client.post("/sign-in/code/", {"code": f" {code()} ", "next": "/filters/"})
    assert answer["Location"] == "/filters/" and is_signed_in(client)
    assert client.session.session_key != before
    assert not Session.objects.filter(session_key=before).exists()


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "javascript:x"])
def test_it_leads_to_no_other_site(client: Client, careful: User, elsewhere: str) -> None:
    give_password(client, careful)
    assert (
        client.post(f"/sign-in/code/?next={quote(elsewhere)}", {"code": code()})["Location"] == "/"
    )


def test_a_recovery_code_does_too_once(client: Client, careful: User) -> None:
    spare = recovery.make(careful)[0]
    give_password(client, careful)
    assert client.post("/sign-in/code/", {"code": spare}).status_code == 302
    client.post("/sign-out/")
    give_password(client, careful)
    assert client.post("/sign-in/code/", {"code": spare}).status_code == 400
    assert not is_signed_in(client)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "Write a code, or use a passkey."),
        ({"code": "x" * 50}, "That code is too long."),
        ({"passkey": "{}"}, "That passkey did not work."),
        ({"passkey": "[1"}, "That passkey did not work."),
    ],
)
def test_bad_input_is_said(
    client: Client, careful: User, given: dict[str, str], sentence: str
) -> None:
    give_password(client, careful)
    answer = client.post("/sign-in/code/", given)
    assert answer.status_code == 400 and sentence in answer.content.decode()
    assert not is_signed_in(client)


def test_who_guesses_codes_is_stopped(client: Client, careful: User) -> None:
    give_password(client, careful)
    for _ in range(5):
        answer = client.post("/sign-in/code/", {"code": wrong_code()})
        assert answer.status_code == 400 and WRONG_CODE in answer.content.decode()
    refused = client.post("/sign-in/code/", {"code": code()})
    assert refused.status_code == 429 and int(refused["Retry-After"]) > 290
    assert "Too many wrong codes: please try again in 5 minutes." in refused.content.decode()
    assert not is_signed_in(client)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow three wrong codes for an account, so that a test need not send many."""
    monkeypatch.setattr(verification, "ACCOUNT", RateLimitItemPerMinute(3, 60, "few"))


def test_wrong_codes_from_many_addresses_and_new_browsers_are_limited(
    careful: User, few: None
) -> None:
    assert verification.ACCOUNT.amount == 3
    statuses = []
    for number in range(5):
        client = Client(REMOTE_ADDR=f"192.0.2.{number}")
        give_password(client, careful)
        assert "tapestry_browser" not in client.cookies
        statuses.append(client.post("/sign-in/code/", {"code": wrong_code()}).status_code)
    assert statuses == [400] * 3 + [429] * 2


def test_that_does_not_lock_the_owner_out_of_their_browser(careful: User, few: None) -> None:
    mine = Client()
    give_password(mine, careful)
    mine.post("/sign-in/code/", {"code": code()})
    assert "tapestry_browser" in mine.cookies
    mine.post("/sign-out/")
    for number in range(4):
        stranger = Client(REMOTE_ADDR=f"192.0.2.{number}")
        give_password(stranger, careful)
        stranger.post("/sign-in/code/", {"code": wrong_code()})
    give_password(mine, careful)
    assert mine.post("/sign-in/code/", {"code": code(1)}).status_code == 302


def test_the_password_counts_for_ten_minutes(
    client: Client, careful: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_password(client, careful)
    monkeypatch.setattr(stage, "wall_clock", lambda: wall_clock() + 11 * MINUTE)
    assert client.post("/sign-in/code/", {"code": code()})["Location"] == "/sign-in/?next=%2F"
    assert not is_signed_in(client)


def test_the_administration_asks_for_the_second_factor(client: Client, db: None) -> None:
    root = User.objects.create_superuser("root", "root@example.org", "secret")
    give_app(root)
    assert client.get("/admin/")["Location"] == "/admin/login/?next=/admin/"
    door = client.get("/admin/login/?next=/admin/")["Location"]
    assert door == "/sign-in/?next=%2Fadmin%2F"
    assert client.post("/admin/login/").status_code == 405
    page = client.post(door, {"username": "root", "password": "secret"})
    assert page["Location"] == "/sign-in/code/?next=%2Fadmin%2F"
    assert client.post(page["Location"], {"code": code()})["Location"] == "/admin/"
    assert client.get("/admin/").status_code == 200


def test_who_has_none_is_asked_for_none(client: Client, bob: User) -> None:
    assert give_password(client, bob) == "/" and is_signed_in(client)
    assert client.get("/sign-in/code/")["Location"] == "/sign-in/?next=%2F"


def test_somebody_else_may_sign_in_instead(client: Client, careful: User, bob: User) -> None:
    give_password(client, careful)
    assert client.post("/sign-out/").status_code == 302
    assert client.get("/sign-in/").status_code == 200
    give_password(client, careful)
    assert give_password(client, bob) == "/" and is_signed_in(client)


def test_the_code_needs_the_token_of_the_form(careful: User) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.post("/sign-in/code/", {"code": code()}).status_code == 403


def test_an_operator_turns_a_lost_one_off(
    client: Client, careful: User, capsys: pytest.CaptureFixture[str]
) -> None:
    recovery.make(careful)
    call_command("second_factor", "alice", off=True)
    assert "alice signs in with their password alone" in capsys.readouterr().out
    assert give_password(client, careful) == "/"
    assert not totp.take(careful, code())
    forget_tries()


def test_another_password_ends_the_stage(client: Client, careful: User) -> None:
    give_password(client, careful)
    careful.set_password("another")
    careful.save()
    assert client.post("/sign-in/code/", {"code": code()})["Location"] == "/sign-in/?next=%2F"


def test_the_administration_refuses_who_is_no_administrator(
    as_user: Callable[[User], Client], bob: User
) -> None:
    browser = as_user(bob)
    assert browser.get("/admin/login/", {"next": "/admin/"}).status_code == 403
