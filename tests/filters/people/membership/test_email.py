"""The address of one's account: who changes it has confirmed who they are, and confirms it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core import mail as sent_mail
from django.test import Client

from filters.delivery.mail.addresses import address_of_person, send_link
from filters.delivery.mail.addresses import confirm as confirm_address
from filters.delivery.models import Address, KeptMail
from filters.people import people
from filters.people.emails import accounts_of, change, is_unconfirmed, trust
from filters.people.forms import ProfileForm
from filters.people.models import User
from tests.support.people.second_factors import confirm

SignIn = Callable[[User], Client]


@pytest.fixture
def here(carol: User, as_user: SignIn) -> Client:
    client = as_user(carol)
    confirm(client)
    return client


def test_a_new_address_is_used_for_the_password_once_it_is_confirmed(
    here: Client, carol: User, link: Callable[[], str]
) -> None:
    page = here.post("/me/email/", {"email": "New@X.org"}, follow=True).content.decode()
    assert "A link is on its way to New@x.org" in page and "not confirmed yet" in page
    carol = User.objects.get(pk=carol.pk)
    assert people.addresses(carol) == ("new@x.org",)
    assert is_unconfirmed(carol) and accounts_of("new@x.org") == []
    assert here.post(link()).status_code == 200
    assert not is_unconfirmed(carol) and accounts_of("new@x.org") == [carol]
    assert accounts_of("carol@example.org") == []


def test_it_may_be_taken_away(here: Client, carol: User) -> None:
    here.post("/me/email/", {"email": ""})
    carol = User.objects.get(pk=carol.pk)
    assert carol.email == "" and accounts_of("") == [] and not Address.objects.exists()


def test_the_link_is_sent_again_but_not_at_once(here: Client, carol: User) -> None:
    here.post("/me/email/link/")
    assert sent_mail.outbox == []
    here.post("/me/email/", {"email": "new@x.org"})
    page = here.post("/me/email/link/", follow=True).content.decode()
    assert "A link was sent to new@x.org a moment ago" in page
    assert [mail.to for mail in sent_mail.outbox].count(["new@x.org"]) == 1


@pytest.mark.parametrize("email", ["x", "a@b@c", "x" * 255 + "@y.org"])
def test_nonsense_is_refused(here: Client, carol: User, email: str) -> None:
    assert here.post("/me/email/", {"email": email}).status_code == 400
    assert User.objects.get(pk=carol.pk).email == "carol@example.org"


def test_who_has_not_confirmed_changes_nothing(carol: User, as_user: SignIn) -> None:
    answer = as_user(carol).post("/me/email/", {"email": "thief@x.org"})
    assert answer["Location"].startswith("/me/confirm/")
    assert User.objects.get(pk=carol.pk).email == "carol@example.org"
    assert Client().get("/me/email/")["Location"].startswith("/sign-in/")


def test_one_that_the_operator_gave_stays_trusted_whatever_else_it_is_used_for(carol: User) -> None:
    address = address_of_person(carol, carol.email)
    assert not is_unconfirmed(carol) and accounts_of(carol.email) == [carol]
    confirm_address(address, is_proof=False)
    assert not is_unconfirmed(carol) and accounts_of(carol.email) == [carol]
    change(carol, "Carol@Example.org")
    assert not is_unconfirmed(carol), "it is the same"


def test_one_that_its_person_wrote_is_theirs_once_they_have_proven_it(carol: User) -> None:
    given = carol.email
    row = change(carol, "boss@x.org")
    assert row is not None and is_unconfirmed(carol) and accounts_of("boss@x.org") == []
    confirm_address(row, is_proof=False)
    assert is_unconfirmed(carol) and accounts_of("boss@x.org") == [], "a stranger opened the link"
    change(carol, given)
    assert is_unconfirmed(carol), "that of the operator was given up"
    change(carol, "boss@x.org")
    confirm_address(row, is_proof=True)
    assert not is_unconfirmed(carol) and accounts_of("boss@x.org") == [carol]
    Address.objects.all().delete()
    assert is_unconfirmed(carol), "what proved it is gone"
    trust(carol)
    assert not is_unconfirmed(carol)


def test_a_link_that_somebody_else_opens_leaves_it_unconfirmed(
    here: Client, carol: User, bob: User, as_user: SignIn, link: Callable[[], str]
) -> None:
    here.post("/me/email/", {"email": "new@x.org"})
    for browser in (Client(), as_user(bob)):
        assert browser.post(link()).status_code == 200
        assert Address.objects.get().confirmed_at and is_unconfirmed(User.objects.get(pk=carol.pk))
    assert here.post(link()).status_code == 200
    assert not is_unconfirmed(User.objects.get(pk=carol.pk))


def test_one_that_was_confirmed_for_a_digest_alone_is_to_be_proven(
    here: Client, carol: User
) -> None:
    confirm_address(address_of_person(carol, "new@x.org"), is_proof=False)
    here.post("/me/email/", {"email": "new@x.org"})
    assert [mail.to for mail in sent_mail.outbox if "Confirm" in mail.subject] == [["new@x.org"]]


def test_without_a_mail_server_nothing_is_asked_and_nothing_is_proven(
    here: Client, carol: User, settings: Any
) -> None:
    settings.EMAIL_BACKEND = "filters.delivery.mail.kept.KeptMailBackend"
    page = here.post("/me/email/", {"email": "boss@x.org"}, follow=True).content.decode()
    assert "A link" not in page and "not confirmed" not in page
    send_link(Address.objects.get())
    body = bytes(KeptMail.objects.get().raw).decode()
    here.post("/confirm/" + body.partition("/confirm/")[2].split()[0])
    assert Address.objects.get().confirmed_at and accounts_of("boss@x.org") == []


def test_saving_the_page_of_the_person_keeps_the_claim(carol: User) -> None:
    before = User.objects.get(pk=carol.pk)
    change(carol, "boss@x.org")
    form = ProfileForm({**ProfileForm.initial_of(before), "timeliness": "hourly"})
    assert form.is_valid(), form.errors
    form.store(before)
    assert User.objects.get(pk=carol.pk).timeliness == "hourly" and is_unconfirmed(carol)
