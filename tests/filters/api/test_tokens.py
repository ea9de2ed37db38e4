"""Personal tokens: made on a page, shown once, limited by scope, time and number of calls."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.tokens import default_token_generator
from django.core.management import call_command
from django.test import Client
from limits import parse

from filters.api import authentication, usage
from filters.api.authentication import make_token
from filters.api.models import AccessToken, TokenUse
from filters.people.membership.resets import set_password
from filters.people.models import User
from filters.people.second_factor.views import CONFIRMED_AT
from tapestry.core.clock import wall_clock
from tapestry.tables.delta.log import Tables
from tests.filters.api.conftest import Caller

SignIn = Callable[[User], Client]

PASSWORD = "/me/password/"


@pytest.fixture
def browser(alice: User, as_user: SignIn) -> Client:
    client = as_user(alice)
    session = client.session
    session[CONFIRMED_AT] = wall_clock()
    session.save()
    return client


def test_a_token_is_made_shown_once_and_deleted(browser: Client, alice: User) -> None:
    form = {"name": "backup", "scopes": ["read"], "days": "30"}
    secret = browser.post("/me/tokens/", form).context["secret"]
    call = Caller(secret)
    call("GET", "filters")
    page = browser.get("/me/tokens/").content.decode()
    assert "backup" in page and secret not in page
    token = alice.access_tokens.get()
    assert secret not in str(AccessToken.objects.values().get()) and token.used_at is not None
    browser.post(f"/me/tokens/{token.key}/delete/")
    call("GET", "filters", status=401)


def test_a_form_without_scopes_is_told_so(browser: Client, alice: User) -> None:
    answer = browser.post("/me/tokens/", {"name": "x", "days": "30"})
    assert answer.status_code == 400 and "Tick what it may do." in answer.content.decode()
    assert not alice.access_tokens.exists()


def test_a_token_is_deleted_by_its_owner_alone(
    browser: Client, carol: User, as_user: SignIn
) -> None:
    token, _ = make_token(carol, "hers", ["read"], 7)
    for key in (token.key, "forged"):
        assert browser.post(f"/me/tokens/{key}/delete/").status_code == 404
    assert carol.access_tokens.count() == 1


def test_a_token_opens_its_scopes_alone(alice: User) -> None:
    call = Caller(make_token(alice, "reader", ["read"], 7)[1])
    call("GET", "filters")
    refused = call("POST", "filters", status=403, text="from mary")
    assert refused["detail"] == (
        "This token may not create, change and delete its owner’s filters."
    )
    call("POST", "acts", status=403, action="done", messages=[{"id": "x"}])


def test_a_token_that_has_ended_opens_nothing(alice: User) -> None:
    call = Caller(make_token(alice, "old", ["read"], 7)[1])
    AccessToken.objects.update(ends_at=wall_clock())
    call("GET", "filters", status=401)


def test_a_token_of_who_may_not_sign_in_opens_nothing(alice: User) -> None:
    call = Caller(make_token(alice, "hers", ["read"], 7)[1])
    User.objects.update(is_active=False)
    call("GET", "filters", status=401)


@pytest.mark.parametrize("way", ["page", "link", "administrator", "command"])
def test_a_token_ends_with_the_password_of_its_owner(
    alice: User, carol: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    call, other = (Caller(make_token(who, "x", ["read"], 7)[1]) for who in (alice, carol))
    new = "three quiet looms"
    if way == "page":
        assert "Your access tokens end, too" in as_user(alice).get(PASSWORD).content.decode()
        form = {"old_password": "secret", "new_password1": new, "new_password2": new}
        as_user(alice).post(PASSWORD, form)
        assert "access tokens end" not in as_user(alice).get(PASSWORD).content.decode()
    elif way == "link":
        set_password(alice, default_token_generator.make_token(alice), new)
    elif way == "administrator":
        root = as_user(User.objects.create_superuser("root", "root@example.org", "secret"))
        form = {"password1": new, "password2": new, "usable_password": "true"}
        root.post(f"/admin/people/user/{alice.pk}/password/", form)
    else:
        monkeypatch.setattr("getpass.getpass", lambda prompt: new)
        call_command("changepassword", "alice")
    assert User.objects.get(pk=alice.pk).check_password(new)
    call("GET", "filters", status=401)
    other("GET", "filters")


def test_a_session_opens_no_call(browser: Client) -> None:
    answer = browser.get("/api/v1/filters")
    assert answer.status_code == 401 and answer.headers["WWW-Authenticate"] == "Bearer"


def test_calls_are_limited(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authentication, "CALLS", parse("2/minute"))
    call = Caller(make_token(alice, "busy", ["read"], 7)[1])
    call("GET", "filters")
    call("GET", "filters")
    call("GET", "filters", status=429)


def test_the_calls_describe_themselves(client: Client) -> None:
    described = client.get("/api/v1/openapi.json").json()
    assert described["openapi"].startswith("3.1")
    for path, calls in described["paths"].items():
        for method, call in calls.items():
            assert call.get("summary") and call.get("description"), (method, path)
            assert call["security"], (method, path)


def test_a_page_has_every_call(browser: Client) -> None:
    described = browser.get("/api/v1/openapi.json").json()
    page = " ".join(browser.get("/api/").content.decode().split())
    for path, calls in described["paths"].items():
        for method in calls:
            assert f"<code>{method.upper()} {path}</code>" in page
    assert "<code>text</code> (string, required)" in page
    assert "<code>mode</code> (keep or live or wait)" in page


def test_its_owner_sees_what_a_program_did(
    mail: Tables, browser: Client, alice: User, carol: User, as_user: SignIn
) -> None:
    token, secret = make_token(alice, "script", ["read", "acts"], 7)
    call = Caller(secret)
    call("GET", "message?id=plan@example.org")
    TokenUse.objects.update(first_at=1, last_at=1)
    call("GET", "message?id=plan@example.org")
    call("POST", "filters", status=403, text="from mary")
    call("GET", "filters/none/messages", status=404)
    copies = [{"id": f"m{number}"} for number in range(5)]
    call("POST", "acts", status=404, action="done", messages=copies)
    page = browser.get(f"/me/tokens/{token.key}/uses/")
    assert [(use.call, use.about, use.first_at == 1) for use in page.context["uses"]] == [
        ("POST acts", "done · m0 · m1 · m2 · 2 more", False),
        ("GET filters/{name}/messages", "none", False),
        ("GET message", "plan@example.org", True),
    ]
    assert "first on 1 January 1970" in page.content.decode()
    assert as_user(carol).get(f"/me/tokens/{token.key}/uses/").status_code == 404


def test_the_latest_uses_of_a_token_are_kept(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "KEPT", 20)
    token, secret = make_token(alice, "script", ["read"], 7)
    call = Caller(secret)
    for number in range(60):
        call("GET", f"filters/f{number}", status=404)
    names = [use.about for use in token.uses.all()]
    assert 20 <= len(names) <= 22 and names[0] == "f59"
