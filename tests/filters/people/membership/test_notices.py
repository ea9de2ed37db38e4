"""A person is told by mail what was changed in their account, at the address that they had."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from typing import Any

import pytest
from django.core import mail as sent_mail
from django.core.management import CommandError, call_command
from django.test import Client

from filters.delivery.mail.addresses import confirm as confirm_address
from filters.delivery.models import Address
from filters.people.emails import change, is_unconfirmed
from filters.people.membership.resets import send_links
from filters.people.models import Passkey, User
from filters.people.second_factor import passkeys
from filters.site.work.crypto.opaque_keys import encrypt
from tapestry.core.errors import TapestryError
from tests.support.people.second_factors import PASSWORD, code, confirm, give_app

SignIn = Callable[[User], Client]
Capture = Callable[..., Any]

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
    assert "contact whoever runs the site" in text
    assert "The password was changed." in text and f"{settings.SITE_URL}/forgot/" in text
    assert sent_mail.outbox[0].extra_headers["Auto-Submitted"] == "auto-generated"


def test_a_password_by_a_link(alice: User, link: Callable[[], str]) -> None:
    send_links(alice.email)
    Client().post(link(), {"password": NEW, "again": NEW})
    assert "with a link that was sent to this address" in told()[1]


def test_the_former_address_is_told_of_another(here: Client, alice: User) -> None:
    here.post("/me/email/", {"email": "thief@x.org"})
    to, text = told()
    assert (
        to == ["alice@example.org"]
        and "The e-mail address of your account was changed." in text
        and "thief" not in text
    )
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
    assert "An administrator turned off your second step." in told()[1]


@pytest.fixture
def root(db: None) -> Client:
    """A browser in which an administrator is signed in."""
    client = Client()
    client.force_login(User.objects.create_superuser("root", "root@example.org", "secret"))
    return client


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"password1": NEW, "password2": NEW, "usable_password": "true"}, "changed"),
        ({"usable_password": "false", "unset-password": "1"}, "turned off"),
    ],
)
def test_an_administrator_sets_a_password(
    root: Client,
    alice: User,
    django_capture_on_commit_callbacks: Capture,
    given: dict[str, str],
    said: str,
) -> None:
    before = alice.password
    with django_capture_on_commit_callbacks(execute=True):
        root.post(f"/admin/people/user/{alice.pk}/password/", given)
    alice.refresh_from_db()
    assert alice.password != before
    to, text = told()
    assert to == ["alice@example.org"] and f"An administrator {said} your password." in text


def test_an_administrator_changes_an_address(
    root: Client, alice: User, django_capture_on_commit_callbacks: Capture
) -> None:
    change(alice, "claimed@example.org")
    confirm_address(Address.objects.get(), is_proof=True)
    given = {
        "username": "alice",
        "email": "other@example.org",
        "is_active": "on",
        "date_joined_0": "2026-01-01",
        "date_joined_1": "00:00:00",
        **{"time_zone": "UTC", "timeliness": "at once"},
    }
    for email in ("claimed@example.org", "other@example.org"):
        with django_capture_on_commit_callbacks(execute=True):
            answer = root.post(f"/admin/people/user/{alice.pk}/change/", {**given, "email": email})
        assert answer.status_code == 302, answer.content
    to, text = told()
    assert to == ["claimed@example.org"] and "An administrator changed the e-mail" in text
    Address.objects.all().delete()
    root.post(f"/admin/people/user/{alice.pk}/change/", {**given, "email": "claimed@example.org"})
    assert not is_unconfirmed(User.objects.get(pk=alice.pk)), "the operator gave it"


def test_a_password_by_a_command(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getpass", lambda prompt: NEW)
    with pytest.raises(CommandError):
        call_command("changepassword", "nobody")
    assert sent_mail.outbox == []
    call_command("changepassword", "alice")
    alice.refresh_from_db()
    assert alice.check_password(NEW)
    to, text = told()
    assert to == [alice.email] and "An administrator changed your password." in text


def test_a_password_is_asked_for_at_a_terminal_alone(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("getpass.getpass", getpass.fallback_getpass)
    with pytest.raises(TapestryError, match="no terminal"):
        call_command("changepassword", "alice")


@pytest.mark.parametrize("reason", ["none", "unconfirmed", "no mail server"])
def test_without_a_place_to_tell_nothing_is_sent(
    here: Client, alice: User, settings: Any, reason: str
) -> None:
    if reason == "none":
        User.objects.update(email="")
    elif reason == "unconfirmed":
        change(alice, "claimed@example.org")
    else:
        settings.EMAIL_BACKEND = "filters.delivery.mail.kept.KeptMailBackend"
    given = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    here.post("/me/password/", given)
    assert sent_mail.outbox == []
