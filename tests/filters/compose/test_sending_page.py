"""One's own mail server: tried, stored encrypted, never shown; and the addresses to write from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from filters.compose.models import OutgoingMessage, SmtpAccount
from filters.delivery.models import Address, KeptMail
from filters.people.models import User
from filters.site.work.crypto.encryption import decrypt
from filters.sources.accounts import finding
from filters.sources.accounts.credentials import keep_secret
from filters.sources.models import Source
from tapestry.servers.discovery import providers
from tapestry.servers.discovery.discover import Discovered
from tapestry.servers.discovery.server_settings import ServerSettings
from tests.support.delivery.composed import send_due, typed
from tests.support.delivery.unusable_addresses import UNUSABLE
from tests.support.servers.smtp import SmtpServer, running_smtp

SignIn = Callable[[User], Client]


@pytest.fixture
def own() -> Iterator[SmtpServer]:
    with running_smtp("terry", "s3cret/@") as server:
        yield server


def described(server: SmtpServer, **other: Any) -> dict[str, Any]:
    return {
        "host": "127.0.0.1",
        "port": server.port,
        "security": "none",
        "user": "terry",
        "secret": "s3cret/@",
        **other,
    }


def test_a_server_is_tried_stored_and_used(
    browser: Client, own: SmtpServer, data: Path, settings: Any
) -> None:
    settings.EMAIL_BACKEND = "filters.delivery.mail.kept.KeptMailBackend"
    assert "No mail server is set up here" in browser.get("/sending/").content.decode()
    answered = browser.post("/sending/", described(own), follow=True)
    assert "Your mail is sent by 127.0.0.1 from now on." in answered.content.decode()
    stored = SmtpAccount.objects.get()
    assert "s3cret" not in stored.secret and decrypt(stored.secret, data) == "s3cret/@"
    page = browser.get("/sending/").content.decode()
    assert "by your own server, 127.0.0.1" in page and "s3cret" not in page
    browser.post("/compose/", typed())
    send_due()
    assert len(own.taken) == 1 and OutgoingMessage.objects.get().state == "sent"
    browser.post("/sending/remove/")
    assert not SmtpAccount.objects.exists()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"secret": "guessed"}, "refused the user name or password of terry"),
        ({"host": ""}, "This field is required"),
        ({"host": "a b"}, "name of the server alone"),
        ({"port": "0"}, "greater than or equal to 1"),
        ({"security": "plain"}, "not one of the available choices"),
        ({"secret": ""}, "Enter the password."),
        ({"user": "te\x00rry"}, "ull characters are not allowed"),
        ({"host": "smtp.example.org"}, "A password is sent over TLS only"),
    ],
)
def test_what_is_wrong_is_said_and_not_stored(
    browser: Client, own: SmtpServer, wrong: dict[str, str], words: str
) -> None:
    page = browser.post("/sending/", described(own, **wrong))
    assert page.status_code == 400 and words in page.content.decode()
    assert not SmtpAccount.objects.exists() and "s3cret" not in page.content.decode()


def test_a_host_that_is_not_public_is_not_connected_to(
    browser: Client, own: SmtpServer, settings: Any
) -> None:
    settings.PRIVATE_HOSTS = []
    page = browser.post("/sending/", described(own))
    assert "There is no connection with 127.0.0.1" in page.content.decode()
    assert own.connections == 0 and not SmtpAccount.objects.exists()


def test_the_password_goes_nowhere_else(browser: Client, own: SmtpServer) -> None:
    browser.post("/sending/", described(own))
    kept = browser.post("/sending/", described(own, secret=""))
    assert kept.status_code == 302
    with running_smtp("terry", "s3cret/@") as other:
        page = browser.post("/sending/", described(other, secret=""))
        assert (
            "Enter the password again, because the server or user name has changed."
            in page.content.decode()
            and other.connections == 0
        )


def test_a_server_that_refuses_the_password_later(browser: Client, own: SmtpServer) -> None:
    browser.post("/sending/", described(own))
    stored = SmtpAccount.objects.get()
    with running_smtp("terry", "another") as changed:
        SmtpAccount.objects.filter(pk=stored.pk).update(port=changed.port)
        browser.post("/compose/", typed())
        send_due()
    row = OutgoingMessage.objects.get()
    assert row.state == "refused" and "refused the user name or password" in row.error


def source_with_token(owner: User, host: str, token: str) -> Source:
    place = {"host": host, "port": 993, "user": "terry", "audience": f"user:{owner.username}"}
    source = Source(owner=owner, method="xoauth2", **place)
    keep_secret(source, token)
    source.save()
    return source


@pytest.mark.usefixtures("data")
def test_a_server_of_the_same_provider_is_given_the_token_of_a_source(
    browser: Client, writer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = (ServerSettings("imap.x.org", 993), ServerSettings("127.0.0.1", 25))
    monkeypatch.setattr(providers, "PROVIDERS", (providers.Provider("X", (), *places),))
    with running_smtp("terry", token="t0ken") as server:
        wanted = described(server, secret="")
        source_with_token(writer, "imap.other.org", "t0ken")
        page = browser.post("/sending/", wanted)
        assert "Enter the password." in page.content.decode() and not server.connections
        source = source_with_token(writer, "imap.x.org", "expired")
        page = browser.post("/sending/", wanted)
        assert "refused the token of terry" in page.content.decode()
        keep_secret(source, "t0ken")
        source.save()
        assert browser.post("/sending/", wanted).status_code == 302
        assert SmtpAccount.objects.get().secret == ""
        browser.post("/compose/", typed())
        send_due()
        assert len(server.taken) == 1


def test_a_token_goes_to_no_host_that_a_form_names(
    browser: Client, own: SmtpServer, writer: User
) -> None:
    source_with_token(writer, "imap.gmail.com", "t0ken")
    source_with_token(writer, "outlook.office365.com", "t0ken")
    page = browser.post("/sending/", described(own, secret=""))
    assert "Enter the password." in page.content.decode() and not own.connections


def test_an_address_is_confirmed_by_a_link(
    alice: User, as_user: SignIn, mailoutbox: list[Any]
) -> None:
    browser = as_user(alice)
    answered = browser.post("/sending/address/", {"email": "al@example.com"}, follow=True)
    assert "A link is on its way to al@example.com" in answered.content.decode()
    assert "not confirmed" in answered.content.decode() and mailoutbox[0].to == ["al@example.com"]
    assert browser.post("/compose/", typed(sender="al@example.com")).status_code == 400
    again = browser.post("/sending/address/", {"email": "al@example.com"}, follow=True)
    assert "sent to al@example.com a moment ago" in again.content.decode()
    link = next(word for word in mailoutbox[0].body.split() if "/confirm/" in word)
    browser.post("/confirm/" + link.partition("/confirm/")[2])
    assert Address.objects.get().confirmed_at is not None
    assert browser.post("/compose/", typed(sender="al@example.com")).status_code == 302


def test_a_stranger_who_confirms_an_address_lets_nobody_write_in_their_name(
    alice: User, as_user: SignIn, mailoutbox: list[Any]
) -> None:
    mallory, stranger = as_user(alice), Client()
    mallory.post("/sending/address/", {"email": "boss@example.com"})
    asked = " ".join(mailoutbox[0].body.split())
    assert "write mail from this address" in asked and "give the link to nobody" in asked
    link = next(word for word in mailoutbox[0].body.split() if "/confirm/" in word)
    stranger.post("/confirm/" + link.partition("/confirm/")[2])
    assert Address.objects.get().confirmed_at is not None
    page = mallory.post("/compose/", typed(sender="boss@example.com"))
    assert page.status_code == 400 and "addresses that you have confirmed" in page.content.decode()
    assert "not confirmed" in mallory.get("/sending/").content.decode()


@pytest.mark.parametrize(
    "email", ["", "al", "a@x.org\r\nBcc: e@x.org", f"{'a' * 300}@x.org", *UNUSABLE]
)
def test_what_is_no_address(browser: Client, email: str) -> None:
    page = browser.post("/sending/address/", {"email": email}, follow=True)
    assert 'class="banner bad' in page.content.decode()
    assert not Address.objects.filter(asked_at__gt=0).exists()


def test_of_others_there_is_nothing(
    browser: Client, own: SmtpServer, carol: User, as_user: SignIn
) -> None:
    browser.post("/sending/", described(own))
    other = as_user(carol)
    page = other.get("/sending/").content.decode()
    assert "127.0.0.1" not in page and "alice@example.org" not in page
    other.post("/sending/remove/")
    assert SmtpAccount.objects.count() == 1
    assert Client().get("/sending/")["Location"].startswith("/sign-in/")


def test_an_address_that_was_confirmed_on_a_page_is_not_written_from_by_the_server_of_the_site(
    alice: User, as_user: SignIn, settings: Any
) -> None:
    browser, by_mail = as_user(alice), settings.EMAIL_BACKEND
    settings.EMAIL_BACKEND = "filters.delivery.mail.kept.KeptMailBackend"
    browser.post("/sending/address/", {"email": "boss@example.com"})
    body = bytes(KeptMail.objects.get().raw).decode()
    link = next(word for word in body.split() if "/confirm/" in word)
    browser.post("/confirm/" + link.partition("/confirm/")[2])
    settings.EMAIL_BACKEND = by_mail
    page = browser.post("/compose/", typed(sender="boss@example.com"))
    assert page.status_code == 400 and "addresses that you have confirmed" in page.content.decode()
    assert "not confirmed" in browser.get("/sending/").content.decode()
    SmtpAccount.objects.create(owner=alice, host="smtp.example.com", port=465)
    assert "boss@example.com</option>" in browser.get("/compose/").content.decode()


def test_the_site_sends_from_no_address_that_only_ones_own_server_allowed(
    browser: Client, own: SmtpServer, smtp: SmtpServer, writer: User
) -> None:
    """Queued for one's own server, which is removed then: the site would forge the sender."""
    Address.objects.create(owner=writer, email="boss@x.org", confirmed_at=1, proven=False)
    browser.post("/sending/", described(own))
    browser.post("/compose/", typed(sender="boss@x.org"))
    browser.post("/sending/remove/")
    send_due()
    row = OutgoingMessage.objects.get()
    assert (row.state, smtp.taken, own.taken) == ("refused", [], [])
    assert "once you have confirmed" in row.error
    browser.post(f"/compose/{row.uid}/again/")
    send_due()
    assert smtp.taken == []


def test_the_server_is_suggested_by_the_mailbox_and_by_any_address(
    browser: Client, writer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = browser.get("/sending/").content.decode()
    assert "Find my server" in page and f'value="{writer.email}"' in page
    asked = browser.post("/sending/", {"find": "1", "address": "joe@gmail.com"})
    page = asked.content.decode()
    assert asked.status_code == 200 and not SmtpAccount.objects.exists()
    assert 'value="smtp.gmail.com"' in page and "app password only" in page
    Source.objects.create(
        owner=writer, kind="imap", host="imap.mail.me.com", port=993, user="joe@icloud.com",
        audience="user:alice",
    )  # fmt: skip
    page = browser.get("/sending/").content.decode()
    assert 'value="smtp.mail.me.com"' in page and 'value="starttls" selected' in page
    assert 'name="user" value="joe@icloud.com"' in page

    def discover(domain: str, protocol: str, _network: Any) -> Discovered:
        assert (domain, protocol) == ("x.org", "smtp")
        return Discovered(ServerSettings("smtp.x.org", 587, "starttls"), "srv")

    monkeypatch.setattr(finding, "discover", discover)
    given = {"find": "1", "address": "joe@x.org"}
    page = browser.post("/sending/", given, follow=True).content.decode()
    assert 'value="smtp.x.org"' in page and 'value="587"' in page
