"""A lost password: known and unknown addresses look alike, and each link works once."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core import mail as sent_mail
from django.db import OperationalError
from django.test import Client

from filters.delivery.models import Address, Destination
from filters.delivery.ways import push
from filters.people import tasks
from filters.people.membership import mails, resets
from filters.people.models import User
from tapestry.core.clock import wall_clock
from tests.support.people.second_factors import give_app, give_password

Link = Callable[[], str]
SignIn = Callable[[User], Client]

NEW = "three quiet looms"
BOTH = {"password": NEW, "again": NEW}


def ask(client: Client, email: str) -> Any:
    return client.post("/forgot/", {"email": email})


def without_token(page: str) -> str:
    return re.sub(r'token": "\w+"', "", page)


def is_signed_in(client: Client) -> bool:
    return client.get("/me/").status_code == 200


def test_a_password_is_set_only_where_no_browser_notifies_any_more(
    client: Client, alice: User, link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(client, "alice@example.org")

    def fails(user: User, browser: str) -> int:
        raise OperationalError

    with monkeypatch.context() as patched, pytest.raises(OperationalError):
        patched.setattr(push, "forget_others", fails)
        client.post(link(), BOTH)
    alice.refresh_from_db()
    assert not alice.check_password(NEW)
    assert client.post(link(), BOTH).status_code == 302, "the link still works"


def test_mail_that_could_not_be_sent_does_not_count(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as away:
        away.setattr(mails, "send", lambda *_, **__: False)
        for _ in range(10):
            assert not resets.send_links("alice@example.org")
    for _ in range(5):
        assert resets.send_links("alice@example.org")
    assert len(sent_mail.outbox) == 3, "as many as may be in an hour"


def test_the_link_sets_a_password_once_and_signs_out_everywhere(
    client: Client, alice: User, as_user: SignIn, link: Link
) -> None:
    elsewhere = as_user(alice)
    Destination.objects.create(owner=alice, kind="push", name="A phone that is lost")
    assert 'href="/forgot/"' in client.get("/sign-in/").content.decode()
    assert ask(client, "Alice@Example.org").status_code == 200
    assert [message.to for message in sent_mail.outbox] == [["alice@example.org"]]
    page = client.get(link()).content.decode()
    assert "A new password for alice" in page and "At least 10 characters" in page
    answer = client.post(link(), BOTH, follow=True)
    assert answer.redirect_chain == [("/sign-in/", 302)]
    assert not Destination.objects.exists(), "nor does it notify anybody"
    assert "Your password is changed." in answer.content.decode()
    assert not is_signed_in(client) and not is_signed_in(elsewhere)
    alice.refresh_from_db()
    assert alice.check_password(NEW)
    for again in (client.get(link()), client.post(link(), BOTH)):
        assert again.status_code == 404 and "Links work only once" in again.content.decode()


def test_known_and_unknown_addresses_are_answered_alike(
    client: Client, alice: User, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    sent = []
    monkeypatch.setattr(tasks.send_reset, "delay", sent.append)
    pages = []
    for email in ("alice@example.org", "nobody@example.org"):
        with django_assert_num_queries(0):
            pages.append(without_token(ask(client, email).content.decode()).replace(email, ""))
    assert pages[0] == pages[1] and sent == ["alice@example.org", "nobody@example.org"]


def test_only_a_confirmed_address_of_an_active_account_is_written_to(
    client: Client, alice: User, bob: User, carol: User
) -> None:
    Address.objects.create(owner=alice, email="alice@example.org")
    User.objects.filter(pk=alice.pk).update(claimed_email="alice@example.org")
    Address.objects.create(owner=bob, email="other@example.org", confirmed_at=1)
    User.objects.filter(pk=carol.pk).update(is_active=False)
    for email in ("alice@example.org", "other@example.org", "carol@example.org", "x@example.org"):
        assert ask(client, email).status_code == 200
    assert sent_mail.outbox == []
    Address.objects.update(confirmed_at=wall_clock())
    ask(client, "alice@example.org")
    assert len(sent_mail.outbox) == 1


def test_a_password_that_the_operator_made_unusable_stays_so(client: Client, alice: User) -> None:
    alice.set_unusable_password()
    alice.save()
    twin = User.objects.create_user("twin", alice.email, "secret")
    ask(client, "alice@example.org")
    assert ["Hello twin" in message.body for message in sent_mail.outbox] == [True]
    twin.delete()
    ask(client, "alice@example.org")
    assert len(sent_mail.outbox) == 1


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"password": NEW, "again": "other"}, "The two passwords are not the same."),
        ({"password": "alice12345", "again": "alice12345"}, "little more than a name"),
        ({"password": "short", "again": "short"}, "at least 10 characters"),
        ({}, "This field is required."),
    ],
)
def test_a_bad_password_is_said_and_the_link_still_works(
    client: Client, alice: User, link: Link, given: dict[str, str], sentence: str
) -> None:
    ask(client, "alice@example.org")
    answer = client.post(link(), given)
    assert answer.status_code == 400 and sentence in answer.content.decode()
    assert client.post(link(), BOTH).status_code == 302


def test_a_link_expires_after_an_hour(
    client: Client, alice: User, link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(client, "alice@example.org")
    later = datetime.now() + timedelta(minutes=61)
    monkeypatch.setattr(PasswordResetTokenGenerator, "_now", lambda _: later)
    assert client.get(link()).status_code == 404


def test_it_is_of_one_account_alone(client: Client, alice: User, bob: User, link: Link) -> None:
    ask(client, "bob@example.org")
    _, _, _, token, _ = link().split("/")
    ask(client, "alice@example.org")
    key = link().split("/")[2]
    for forged in (f"/forgot/{key}/{token}/", "/forgot/x/y/", f"/forgot/{key}/é/"):
        assert client.get(forged).status_code == 404


def test_the_second_step_stays(client: Client, alice: User, link: Link) -> None:
    give_app(alice)
    ask(client, "alice@example.org")
    client.post(link(), BOTH)
    assert give_password(client, alice, password=NEW).startswith("/sign-in/code/")


def test_without_a_mail_server_the_page_says_whom_to_ask(
    client: Client, alice: User, settings: Any
) -> None:
    settings.EMAIL_BACKEND = "filters.delivery.mail.kept.KeptMailBackend"
    for page in (client.get("/forgot/"), ask(client, "alice@example.org")):
        assert "Ask whoever runs it" in page.content.decode()


def test_too_many_requests_are_refused_in_words(client: Client, db: None) -> None:
    answers = [ask(client, "x@example.org") for _ in range(11)]
    assert [answer.status_code for answer in answers] == [200] * 10 + [429]
    assert "Too many requests: please try again in" in answers[-1].content.decode()
    assert int(answers[-1]["Retry-After"]) > 3000
    assert Client(REMOTE_ADDR="192.0.2.7").post("/forgot/", {"email": "x@y.org"}).status_code == 200


def test_nobodys_mailbox_is_filled(alice: User) -> None:
    for number in range(5):
        ask(Client(REMOTE_ADDR=f"192.0.2.{number}"), "alice@example.org")
    assert len(sent_mail.outbox) == 3


def test_links_are_not_guessed(client: Client, db: None) -> None:
    answers = [client.get(f"/forgot/x/{number}/").status_code for number in range(31)]
    assert answers == [404] * 30 + [429]


@pytest.mark.parametrize("email", ["", "nonsense", "x" * 300 + "@example.org"])
def test_nonsense_is_refused(client: Client, db: None, email: str) -> None:
    assert ask(client, email).status_code == 400


def test_the_form_needs_its_token(db: None) -> None:
    assert ask(Client(enforce_csrf_checks=True), "x@example.org").status_code == 403
