"""Sign-up: off, by invitation, or on; an account has a confirmed address."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core import mail as sent_mail
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.test import Client

from filters.delivery.models import Address
from filters.people.membership import invitations
from filters.people.models import Invitation, RetiredName, User
from filters.site.settings.sign_up import read_mode
from tapestry.core.clock import DAY, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.tables.delta.log import Tables
from tests.support.delivery.unusable_addresses import UNUSABLE

Link = Callable[[], str]

GIVEN = {"name": "terry", "password": "three quiet looms", "again": "three quiet looms"}


@pytest.fixture
def open_site(settings: Any, db: None) -> None:
    settings.SIGN_UP = "on"


def invited(settings: Any, email: str = "terry@example.org") -> str:
    settings.SIGN_UP = "invitation"
    return urlsplit(invitations.invite(email)[0]).path


def test_it_is_off_unless_the_operator_says_so(
    client: Client, db: None, capsys: pytest.CaptureFixture[str]
) -> None:
    for address in ("/sign-up/", "/sign-up/x/"):
        assert client.get(address).status_code == 404
        assert client.post(address, {"email": "x@example.org"}).status_code == 404
    assert "/sign-up/" not in client.get("/sign-in/").content.decode()
    with pytest.raises(TapestryError, match="Sign-up is off"):
        call_command("invite", "terry@example.org")
    with pytest.raises(TapestryError, match="none of off, invitation, on"):
        read_mode("maybe")


def test_one_confirms_an_address_and_makes_an_account(
    client: Client, open_site: None, link: Link
) -> None:
    assert 'href="/sign-up/"' in client.get("/sign-in/").content.decode()
    assert "send you a link to confirm it is yours." in client.get("/sign-up/").content.decode()
    assert client.post("/sign-up/", {"email": "Terry@EXAMPLE.org"}).status_code == 200
    page = client.get(link()).content.decode()
    assert "Mail about your account will go to Terry@example.org" in page
    answer = client.post(link(), GIVEN, follow=True)
    assert answer.redirect_chain == [("/sign-in/", 302)]
    assert "Welcome, terry. Please sign in." in answer.content.decode()
    terry = User.objects.get(username="terry")
    assert terry.email == "Terry@example.org" and not terry.is_staff
    assert Address.objects.get(owner=terry).confirmed_at
    given = {"username": "terry", "password": GIVEN["password"]}
    assert client.post("/sign-in/", given)["Location"] == "/"
    assert Client().post(link(), {**GIVEN, "name": "other"}).status_code == 404


def test_whose_address_it_is_already_is_told_so_by_mail_alone(
    client: Client, open_site: None, alice: User
) -> None:
    pages = []
    for email in ("alice@example.org", "terry@example.org"):
        answer = client.post("/sign-up/", {"email": email})
        page = re.sub(r'token": "\w+"', "", answer.content.decode())
        pages.append(page.replace(email, ""))
    assert pages[0] == pages[1]
    known, new = sent_mail.outbox
    assert "It has one already: alice" in known.body and "/sign-up/" not in known.body
    assert "/sign-up/" in new.body


def test_an_invitation_works_once_until_it_expires(
    client: Client, db: None, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = invited(settings), invited(settings, "dave@example.org")
    assert "made by invitation" in client.get("/sign-up/").content.decode()
    client.post("/sign-up/", {"email": "x@example.org"})
    assert [message.to for message in sent_mail.outbox] == [
        ["terry@example.org"],
        ["dave@example.org"],
    ]
    assert client.post(first, GIVEN).status_code == 302
    assert client.post(first, {**GIVEN, "name": "dave"}).status_code == 404
    monkeypatch.setattr(invitations, "wall_clock", lambda: wall_clock() + 15 * DAY)
    assert client.get(second).status_code == 404
    invitations.forget_old()
    assert Invitation.objects.count() == 0


def test_one_that_was_asked_for_ends_with_open_sign_up(
    client: Client, open_site: None, link: Link, settings: Any
) -> None:
    client.post("/sign-up/", {"email": "terry@example.org"})
    settings.SIGN_UP = "invitation"
    assert client.get(link()).status_code == 404


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"name": "alice"}, "This name is taken."),
        ({"name": "ALICE"}, "This name is taken."),
        ({"name": "left"}, "This name is taken."),
        ({"name": "a b"}, "Enter a valid username."),
        ({"name": "x" * 200}, "at most 150 characters"),
        ({"name": ""}, "This field is required."),
        ({"password": "terry12345", "again": "terry12345"}, "little more than a name"),
        ({"again": "other"}, "The two passwords are not the same."),
    ],
)
def test_what_will_not_do_is_said_and_the_link_still_works(
    client: Client, alice: User, mail: Tables, settings: Any, wrong: dict[str, str], sentence: str
) -> None:
    RetiredName.objects.create(name="user:left", key=7, is_kept=True)
    address = invited(settings)
    answer = client.post(address, {**GIVEN, **wrong})
    assert answer.status_code == 400 and sentence in answer.content.decode()
    assert "forget" not in answer.content.decode()
    assert client.post(address, GIVEN).status_code == 302


def test_too_many_requests_and_links_are_refused(client: Client, open_site: None) -> None:
    asked = [client.post("/sign-up/", {"email": "x@y.org"}).status_code for _ in range(11)]
    assert asked == [200] * 10 + [429] and len(sent_mail.outbox) == 3
    tried = [client.get(f"/sign-up/{number}/").status_code for number in range(31)]
    assert tried == [404] * 30 + [429]


def test_without_a_mail_server_an_operator_gives_the_link(
    client: Client, db: None, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.EMAIL_BACKEND = "filters.delivery.mail.kept.KeptMailBackend"
    settings.SIGN_UP = "on"
    assert "This site sends no mail" in client.get("/sign-up/").content.decode()
    call_command("invite", "terry@example.org")
    url, was_sent = capsys.readouterr().out.splitlines()
    assert was_sent == "It was not sent."
    assert client.post(urlsplit(url).path, GIVEN).status_code == 302


@pytest.mark.parametrize("email", ["nonsense", *UNUSABLE])
def test_nonsense_is_refused(client: Client, open_site: None, email: str) -> None:
    assert client.post("/sign-up/", {"email": email}).status_code == 400
    with pytest.raises(TapestryError, match="is not an address"):
        call_command("invite", "--", email)


@pytest.mark.parametrize("name", [".", "..", "-v", "@terry", "+", "_"])
def test_a_name_begins_with_a_letter_or_a_digit(
    client: Client, settings: Any, db: None, name: str
) -> None:
    page = client.post(invited(settings), {**GIVEN, "name": name})
    assert page.status_code == 400
    assert "A name begins with a letter or a digit." in page.content.decode()
    with pytest.raises(ValidationError, match="begins with a letter"):
        User.objects.create_user(name)
    assert not User.objects.exists()


def test_the_forms_need_their_tokens(open_site: None) -> None:
    client = Client(enforce_csrf_checks=True)
    for address in ("/sign-up/", "/sign-up/x/"):
        assert client.post(address, GIVEN).status_code == 403
