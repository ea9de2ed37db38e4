"""A person is told by mail what was changed in their account, at the address that they had."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail as sent_mail
from django.core.management import call_command
from django.test import Client
from support.second_factors import PASSWORD, code, confirm, give_app

from filters.accounts.second_factor import passkeys
from filters.membership.resets import send_links
from filters.models import Address, Passkey
from filters.runtime.opaque_keys import encrypt

SignIn = Callable[[User], Client]

NEW = "three quiet lamps"


@pytest.fixture
def here(alice: User, as_user: SignIn) -> Client:
    client = as_user(alice)
    confirm(client)
    return client


def told() -> tuple[list[str], str]:
    """Return to whom the only notice went, and what it says."""
    (notice,) = [mail for mail in sent_mail.outbox if "was changed" in mail.subject]
    return notice.to, " ".join(notice.body.split())


def test_a_password(here: Client, settings: Any) -> None:
    given = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    here.post("/me/password/", {**given, "new_password2": "other"})
    assert sent_mail.outbox == []
    here.post("/me/password/", given)
    to, text = told()
    assert to == ["alice@example.org"] and text.startswith("Hello alice,")
    assert "The password was changed." in text and f"{settings.SITE_URL}/forgot/" in text
    assert sent_mail.outbox[0].extra_headers["Auto-Submitted"] == "auto-generated"


def test_a_password_by_a_link(alice: User, link: Callable[[], str]) -> None:
    send_links(alice.email)
    Client().post(link(), {"password": NEW, "again": NEW})
    assert "with a link that was sent to this address" in told()[1]


def test_the_former_address_is_told_of_another(here: Client, alice: User) -> None:
    here.post("/me/email/", {"email": "thief@x.org"})
    to, text = told()
    assert to == ["alice@example.org"] and "goes elsewhere" in text and "thief" not in text
    here.post("/me/email/", {"email": "other@x.org"})
    assert len([mail for mail in sent_mail.outbox if "was changed" in mail.subject]) == 1


def test_the_same_address_again_is_no_change(here: Client, alice: User) -> None:
    here.post("/me/email/", {"email": alice.email})
    assert not [mail for mail in sent_mail.outbox if "was changed" in mail.subject]


def test_second_factors(here: Client, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    key = {"owner": alice, "name": "yellow key", "credential": "", "created_at": 1}
    row = Passkey.objects.create(digest="x", **key)
    here.post(f"/me/security/passkey/{encrypt(row.pk)}/remove/")
    assert not Passkey.objects.filter(pk=row.pk).exists()
    assert "The passkey “yellow key” was removed." in told()[1]
    sent_mail.outbox.clear()
    with monkeypatch.context() as patched:
        patched.setattr(passkeys, "are_possible", lambda *_: True)
        patched.setattr(passkeys, "creation_options", lambda *_: "")
        patched.setattr(passkeys, "add", lambda *_: True)
        here.post("/me/security/passkey/", {"name": "red key", "passkey": "{}"})
    assert "The passkey “red key” was added." in told()[1]
    sent_mail.outbox.clear()
    give_app(alice)
    confirm(here, code=code())
    here.post("/me/security/codes/")
    assert "New recovery codes were made" in told()[1]
    sent_mail.outbox.clear()
    here.post("/me/security/app/remove/")
    assert "The authenticator app was removed." in told()[1]


def test_who_runs_the_site_turns_them_off(alice: User) -> None:
    call_command("second_factor", "alice", "--off")
    assert sent_mail.outbox == []
    give_app(alice)
    call_command("second_factor", "alice", "--off")
    assert "Who runs the site turned the second factor off." in told()[1]


@pytest.mark.parametrize("reason", ["none", "unconfirmed", "no mail server"])
def test_without_a_place_to_tell_nothing_is_sent(
    here: Client, alice: User, settings: Any, reason: str
) -> None:
    if reason == "none":
        User.objects.update(email="")
    elif reason == "unconfirmed":
        Address.objects.create(owner=alice, email=alice.email)
    else:
        settings.EMAIL_BACKEND = "filters.delivery.mail.kept.KeptMailBackend"
    given = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    here.post("/me/password/", given)
    assert sent_mail.outbox == []
