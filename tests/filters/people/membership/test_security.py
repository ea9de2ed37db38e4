"""The page of security: factors are added and removed by who has confirmed, browsers signed out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from fido2.utils import websafe_encode

from filters.delivery.models import Destination
from filters.people.factors import has_second_factor
from filters.people.models import AuthenticatorApp, BrowserSession, Passkey, User
from filters.people.second_factor import passkeys, recovery, totp, views
from filters.people.sessions.record import sign_out
from filters.site.work.crypto.opaque_keys import encrypt
from tapestry.core.clock import MINUTE, wall_clock
from tests.support.people.second_factors import (
    PASSWORD,
    code,
    confirm,
    give_app,
    give_password,
    wrong_code,
)
from tests.support.servers.push_service import Browser

SignIn = Callable[[User], Client]

PHONE = Browser.new()

GUARDED = ("app/", "app/remove/", "passkey/", "passkey/x/remove/", "codes/")


@pytest.fixture
def here(alice: User, as_user: SignIn) -> Client:
    """Return a browser in which alice is signed in."""
    return as_user(alice)


@pytest.mark.parametrize("page", GUARDED)
def test_what_matters_asks_first_who_asks(here: Client, alice: User, page: str) -> None:
    give_app(alice)
    Passkey.objects.create(pk=1, owner=alice, name="key", digest="x", credential="", created_at=1)
    asked = here.get(f"/me/security/{page}")["Location"]
    assert asked == f"/me/confirm/?next=%2Fme%2Fsecurity%2F{page.replace('/', '%2F')}"
    assert here.post(f"/me/security/{page}")["Location"].startswith("/me/confirm/?next=")
    assert AuthenticatorApp.objects.exists() and Passkey.objects.exists()


def test_confirming_needs_the_password_and_the_second_factor(here: Client, alice: User) -> None:
    give_app(alice)
    page = here.get("/me/confirm/").content.decode()
    assert "Please confirm your password and your second step. We won’t ask again" in page
    assert "The six digits your app shows." in page
    assert confirm(here) == 400
    assert confirm(here, password="guessed", code=code()) == 400
    assert confirm(here, code=wrong_code()) == 400
    answer = here.post(
        "/me/confirm/?next=/me/security/app/remove/", {"password": PASSWORD, "code": code()}
    )
    assert answer["Location"] == "/me/security/app/remove/"
    assert here.get("/me/security/app/remove/").status_code == 200


def test_it_counts_for_ten_minutes_and_leads_to_no_other_site(
    here: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = here.post("/me/confirm/?next=//evil.example/", {"password": PASSWORD})
    assert answer["Location"] == "/me/security/"
    assert here.get("/me/security/app/").status_code == 200
    monkeypatch.setattr(views, "wall_clock", lambda: wall_clock() + 11 * MINUTE)
    assert here.get("/me/security/app/").status_code == 302


def test_guesses_at_a_confirmation_are_counted(here: Client, alice: User) -> None:
    give_app(alice)
    wrong = [confirm(here, code=wrong_code()) for _ in range(6)]
    assert wrong == [400] * 5 + [429]
    passwords = [confirm(here, password="guessed") for _ in range(6)]
    assert passwords == [400] * 5 + [429]


def test_an_app_is_set_up_by_its_first_code(here: Client, alice: User) -> None:
    confirm(here)
    page = here.get("/me/security/app/").content.decode()
    (spaced,) = re.findall(r'class="key">([^<]+)<', page)
    secret = re.sub(r"\s", "", spaced)
    assert "<svg" in page and "style=" not in page and secret not in str(dict(here.session))
    assert here.post("/me/security/app/", {"code": "000"}).status_code == 400
    assert not has_second_factor(alice)
    shown = totp.code_at(secret, totp.step_now())
    answer = here.post("/me/security/app/", {"code": f"{shown[:3]} {shown[3:]}"})
    page = answer.content.decode()
    assert "Each works once in place of your phone. You won’t see them again." in page
    codes = re.findall(r"<li>([a-z0-9-]{14})</li>", page)
    assert len(codes) == 10 and alice.recovery_codes.filter(used_at=None).count() == 10
    other = Client()
    assert give_password(other, alice).startswith("/sign-in/code/")
    assert other.post("/sign-in/code/", {"code": shown}).status_code == 400
    assert other.post("/sign-in/code/", {"code": codes[0]}).status_code == 302


def test_it_is_turned_off_and_its_recovery_codes_go(here: Client, alice: User) -> None:
    give_app(alice)
    recovery.make(alice)
    confirm(here, code=code())
    assert "your password alone" in here.get("/me/security/app/remove/").content.decode()
    assert here.post("/me/security/app/remove/")["Location"] == "/me/security/"
    assert not has_second_factor(alice) and alice.recovery_codes.filter(used_at=None).count() == 0


def test_new_recovery_codes_are_shown_once(here: Client, alice: User) -> None:
    give_app(alice)
    old = recovery.make(alice)
    confirm(here, code=code())
    assert "stop working" in here.get("/me/security/codes/").content.decode()
    page = here.post("/me/security/codes/").content.decode()
    assert page.count("<li>") >= 10 and old[0] not in page and not recovery.take(alice, old[0])


def test_nobody_removes_the_passkey_of_another(here: Client, bob: User) -> None:
    key = Passkey.objects.create(owner=bob, name="key", digest="x", credential="", created_at=1)
    confirm(here)
    for answer in (here.get, here.post):
        assert answer(f"/me/security/passkey/{encrypt(key.pk)}/remove/").status_code == 404
    assert Passkey.objects.exists()


def test_passkeys_need_a_host_with_a_name(here: Client) -> None:
    confirm(here)
    page = here.get("/me/security/passkey/").content.decode()
    assert "data-options" in page and "A fake page cannot steal it." in page
    numbered = here.get("/me/security/passkey/", headers={"Host": "127.0.0.1:8000"})
    assert "Passkeys do not work at a numeric address. Ask whoever" in numbered.content.decode()


def test_there_are_so_many_passkeys_at_most(
    here: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passkeys, "MOST", 1)
    monkeypatch.setattr(passkeys, "creation_options", lambda *_: "")
    confirm(here)
    Passkey.objects.create(owner=alice, name="key", digest="x", credential="", created_at=1)
    page = here.get("/me/security/passkey/").content.decode()
    assert "You have reached the limit of 1 passkeys. Remove one first." in page


def broken(attestation: bytes) -> str:
    """Return an answer as a browser forms it, around something that is no attestation."""
    told = {"type": "webauthn.create", "challenge": "AA", "origin": "http://testserver"}
    content = {
        "clientDataJSON": websafe_encode(json.dumps(told).encode()),
        "attestationObject": websafe_encode(attestation),
    }
    return json.dumps({"id": "AA", "rawId": "AA", "type": "public-key", "response": content})


@pytest.mark.parametrize(
    "answer",
    [
        *("", "{}", "[", '{"id": "x"}', "null", '"x"', "[" * 20_000),
        *map(broken, (b"", b"\x1a\x00", b"\x81" * 5000, b"\xa0")),
    ],
)
def test_what_is_no_passkey_is_refused(here: Client, alice: User, answer: str) -> None:
    confirm(here)
    here.get("/me/security/passkey/")
    given = {"name": "key", "passkey": answer}
    assert here.post("/me/security/passkey/", given).status_code == 400
    assert not Passkey.objects.exists()


def test_one_sees_where_one_is_signed_in_and_signs_out_there(
    alice: User, bob: User, as_user: SignIn
) -> None:
    agent = "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0"
    here = Client(headers={"User-Agent": agent}, REMOTE_ADDR="192.0.2.7")
    give_password(here, alice)
    second, third, other = as_user(alice), as_user(alice), as_user(bob)
    page = here.get("/me/security/").content.decode()
    assert "Firefox on Linux" in page and "192.0.2.7" in page and page.count("this browser") == 1
    assert page.count("last seen") == 3
    row = BrowserSession.objects.get(session_key=second.session.session_key)
    of_bob = BrowserSession.objects.get(owner=bob)
    assert here.post(f"/me/security/{encrypt(of_bob.pk)}/sign-out/").status_code == 404
    assert here.post(f"/me/security/{of_bob.pk}/sign-out/").status_code == 404
    assert here.post(f"/me/security/{encrypt(row.pk)}/sign-out/").status_code == 302
    assert [c.get("/me/").status_code for c in (here, second, third, other)] == [200, 302, 200, 200]
    here.post("/me/security/sign-out/")
    assert [c.get("/me/").status_code for c in (here, third, other)] == [200, 302, 200]


def asks_for_notifications(client: Client, path: str) -> None:
    document = json.dumps(PHONE.subscription(f"https://push.example.org/{path}"))
    answer = client.post("/delivery/push/subscribe/", {"subscription": document})
    assert answer.status_code == 302


def notified() -> list[int]:
    return sorted(Destination.objects.filter(kind="push").values_list("pk", flat=True))


def test_who_signs_out_everywhere_else_is_notified_nowhere_else(alice: User, bob: User) -> None:
    here, phone, other = Client(), Client(), Client()
    for client, owner in ((here, alice), (phone, alice), (other, bob)):
        give_password(client, owner)
    page = here.get("/me/security/").content.decode()
    assert "turns off notifications" not in page
    asks_for_notifications(here, "here")
    asks_for_notifications(phone, "phone")
    asks_for_notifications(other, "of-bob")
    first, second, of_bob = notified()
    assert "turns off notifications in your other browsers" in " ".join(
        here.get("/me/security/").content.decode().split()
    )
    row = BrowserSession.objects.get(session_key=phone.session.session_key)
    page = here.post(f"/me/security/{encrypt(row.pk)}/sign-out/", follow=True).content.decode()
    assert "If it still notifies you, remove it" in page and notified() == [first, second, of_bob]
    page = here.post("/me/security/sign-out/", follow=True).content.decode()
    assert "Notifications are off in your other browsers." in page
    assert notified() == [first, of_bob]
    here.post("/sign-out/")
    give_password(here, alice)
    page = here.post("/me/security/sign-out/", follow=True).content.decode()
    assert "everywhere else." in page and "are off" not in page
    assert notified() == [first, of_bob], "the browser is known again"


def test_where_it_is_not_known_which_browser_this_is_none_notifies(
    here: Client, alice: User
) -> None:
    asks_for_notifications(here, "before")
    phone = Client()
    give_password(phone, alice)
    asks_for_notifications(phone, "phone")
    page = " ".join(here.get("/me/security/").content.decode().split())
    assert "in all your browsers, as we cannot tell" in page
    page = here.post("/me/security/sign-out/", follow=True).content.decode()
    assert "Notifications are off in all your browsers." in page and notified() == []


def test_a_new_password_leaves_one_browser(here: Client, alice: User, as_user: SignIn) -> None:
    elsewhere = as_user(alice)
    asks_for_notifications(elsewhere, "elsewhere")
    new = "three quiet looms"
    given = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    here.post("/me/password/", given)
    assert notified() == []
    assert here.get("/me/security/").content.decode().count("last seen") == 1
    assert elsewhere.get("/me/").status_code == 302
    assert sign_out(alice) == 1


def test_the_pages_ask_few_questions(
    here: Client, alice: User, django_assert_max_num_queries: Any
) -> None:
    for number in range(5):
        Passkey.objects.create(
            owner=alice, name=str(number), digest=str(number), credential="", created_at=1
        )
        give_password(Client(), alice)
    here.get("/me/security/")  # the counts of the sidebar are kept
    with django_assert_max_num_queries(20):
        here.get("/me/security/")


@pytest.mark.parametrize("address", ["/me/security/sign-out/", "/me/security/x/sign-out/"])
def test_links_alone_sign_nobody_out(here: Client, alice: User, address: str) -> None:
    assert here.get(address).status_code == 405
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice)
    assert strict.post(address).status_code == 403


@pytest.mark.parametrize("how", ["page", "command"])
def test_a_password_that_an_operator_changes_ends_all_browsers_of_its_person(
    alice: User, bob: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    new = "three quiet lamps"
    asks_for_notifications(as_user(alice), "of-alice")
    asks_for_notifications(as_user(bob), "of-bob")
    of_bob = notified()[1]
    if how == "page":
        root = as_user(User.objects.create_superuser("root", "root@example.org", PASSWORD))
        given = {"password1": new, "password2": new, "usable_password": "true"}
        for person in (alice, User.objects.get(username="root")):
            root.post(f"/admin/people/user/{person.pk}/password/", given)
        assert root.get("/admin/").status_code == 200, "who changes their own stays"
    else:
        monkeypatch.setattr("getpass.getpass", lambda prompt: new)
        call_command("changepassword", "alice")
    assert notified() == [of_bob]
    assert not BrowserSession.objects.filter(owner=alice).exists()
    assert BrowserSession.objects.filter(owner=bob).exists()
