"""The address of one's account: who changes it has confirmed who they are, and confirms it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.core import mail as sent_mail
from django.test import Client
from support.second_factors import confirm

from filters.accounts import people
from filters.accounts.emails import accounts_of, is_unconfirmed
from filters.models import Address

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
    assert "A link was sent to New@x.org" in page and "not confirmed yet" in page
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
