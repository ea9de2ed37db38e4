"""A mail server is found from an address: it fills in the form, and nobody logs in."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from filters.people.models import User
from filters.sources import tasks
from filters.sources.accounts import finding, trials
from filters.sources.models import Source, Trial
from tapestry.core.clock import MINUTE, wall_clock
from tapestry.servers.discovery.discover import Discovered
from tapestry.servers.discovery.server_settings import ServerSettings
from tests.support.faults.set_asides import Planted

SignIn = Callable[[User], Client]

pytestmark = pytest.mark.django_db

NEW = "/sources/new/"
HTMX = {"HX-Request": "true"}


@pytest.fixture
def client(alice: User, as_user: SignIn) -> Client:
    return as_user(alice)


class Lookups:
    """Lookups that find what a test says, and what they were asked for."""

    def __init__(self) -> None:
        self.found: Discovered | None = None
        self.asked: list[Any] = []

    def __call__(self, *question: Any) -> Discovered | None:
        self.asked.append(question)
        return self.found


@pytest.fixture
def lookups(monkeypatch: pytest.MonkeyPatch) -> Lookups:
    made = Lookups()
    monkeypatch.setattr(finding, "discover", made)
    return made


def ask(client: Client, address: str, page: str = NEW) -> str:
    """Ask for the server of an address; return the page that has the answer."""
    given = {"find": "1", "address": address, "kind": "imap"}
    return client.post(page, given, follow=True).content.decode()


def test_the_table_answers_at_once_and_nothing_is_looked_up(
    client: Client, lookups: Lookups
) -> None:
    page = ask(client, "joe@gmail.com")
    assert 'value="imap.gmail.com"' in page and 'value="993"' in page
    assert 'name="user" value="joe@gmail.com"' in page
    assert "nothing has been sent there yet" in page
    assert "app password only" in page and "https://myaccount.google.com/apppasswords" in page
    assert lookups.asked == [] and not Trial.objects.exists()


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("joe@icloud.com", 'name="user" value="joe"'),
        ("joe@outlook.com", 'value="xoauth2" selected'),
        ("joe@proton.me", "Proton Mail Bridge"),
        ("joe@GMX.de", 'value="imap.gmx.net"'),
    ],
)
def test_what_is_special_of_a_provider_is_filled_in(
    client: Client, address: str, words: str
) -> None:
    assert words in ask(client, address)


def test_a_domain_is_looked_up_by_the_worker_without_the_name_before_the_at(
    client: Client, lookups: Lookups, settings: Any
) -> None:
    named = ServerSettings("mail.x.org", 143, "starttls", "%EMAILLOCALPART%")
    lookups.found = Discovered(named, "srv")
    page = ask(client, "joe@X.org")
    ((domain, protocol, network),) = lookups.asked
    assert (domain, protocol, network.allowed) == ("x.org", "imap", tuple(settings.PRIVATE_HOSTS))
    assert 'value="mail.x.org"' in page and 'value="143"' in page
    assert 'value="starttls" selected' in page and 'name="user" value="joe"' in page
    assert "is the server that X.org names" in page and "It is not within" not in page
    assert '<details class="by-hand" open>' in page
    assert not Source.objects.exists()


def test_a_server_outside_the_domain_is_said_to_be(client: Client, lookups: Lookups) -> None:
    lookups.found = Discovered(ServerSettings("imap.elsewhere.net", 993), "autoconfig")
    assert "It is not within x.org: go on only if you know it." in ask(client, "joe@x.org")


def test_a_guess_and_a_provider_behind_a_domain_are_said_to_be(
    client: Client, lookups: Lookups
) -> None:
    lookups.found = Discovered(ServerSettings("imap.x.org", 993), "name")
    assert "is probably the server of x.org" in ask(client, "joe@x.org")
    lookups.found = Discovered(ServerSettings("imap.gmail.com", 993), "mx", "Gmail")
    page = ask(client, "joe@x.org")
    assert "the mail of x.org is with Gmail" in page and "app password only" in page


def test_where_nothing_is_found_the_form_asks_for_the_server(
    client: Client, lookups: Lookups
) -> None:
    lookups.found = None
    page = ask(client, "joe@x.org")
    assert "No mail server was found for x.org." in page and "incoming mail" in page
    assert 'name="user" value="joe@x.org"' in page
    assert '<details class="by-hand" open>' in page


@pytest.mark.parametrize("address", ["", "joe", "joe@localhost", "joe@[127.0.0.1]", "a@b@c.org"])
def test_what_is_no_address_is_not_looked_up(
    client: Client, lookups: Lookups, address: str
) -> None:
    given = {"find": "1", "address": address, "kind": "imap"}
    page = client.post(NEW, given)
    assert page.status_code == 400 and 'role="alert"' in page.content.decode()
    assert lookups.asked == [] and not Trial.objects.exists()


def test_the_page_begins_with_the_address_of_the_account(client: Client) -> None:
    page = client.get(NEW).content.decode()
    assert 'value="alice@example.org"' in page and "Find my server" in page
    assert '<details class="by-hand">' in page, "the long form is closed"
    assert "Find my server" not in client.get(f"{NEW}?kind=nntp").content.decode()


def test_lookups_are_limited_as_trials_are_and_hold_no_page(
    client: Client, lookups: Lookups, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    monkeypatch.setattr(trials, "send", lambda _task, args, **_: not sent.extend(args))
    page = ask(client, "joe@x.org")
    trial = Trial.objects.get()
    assert sent == [trial.pk] and lookups.asked == [] and "joe@" not in trial.question
    assert "Looking for your mail server" in page and f'hx-get="/trial/{trial.pk}/"' in page
    assert "Another connection is being tried for you." in ask(client, "joe@y.org")
    Trial.objects.update(ended_at=wall_clock())
    for _ in range(trials.MOST_A_MINUTE - 1):
        Trial.objects.create(
            owner_id=trial.owner_id, subject="x", asked_at=wall_clock(), ended_at=1
        )
    assert "You tried 10 connections within a minute." in ask(client, "joe@y.org")
    Trial.objects.update(asked_at=wall_clock() - 2 * MINUTE)
    ask(client, "joe@y.org")
    assert len(sent) == 2


def test_the_page_that_waits_goes_on_by_itself_or_by_a_link(
    client: Client, bob: User, as_user: SignIn, lookups: Lookups
) -> None:
    lookups.found = None
    ask(client, "joe@x.org")
    trial = Trial.objects.get()
    follows = f"{NEW}?trial={trial.pk}"
    assert client.get(f"/trial/{trial.pk}/", headers=HTMX)["HX-Redirect"] == follows
    assert client.get(f"/trial/{trial.pk}/")["Location"] == follows
    assert "x.org" not in as_user(bob).get(follows).content.decode().split("</form>", 1)[1]
    Trial.objects.update(ended_at=None, answer={}, begun_at=None)
    page = client.get(f"/trial/{trial.pk}/").content.decode()
    assert "<h1>Looking for your mail server</h1>" in page
    assert f'<noscript><p><a href="/trial/{trial.pk}/">' in page


def test_lookups_that_fail_leave_the_form(
    client: Client, monkeypatch: pytest.MonkeyPatch, set_asides: Planted
) -> None:
    errors = set_asides.expect()

    def broken(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(finding, "discover", broken)
    monkeypatch.setattr(trials, "send", lambda _task, args, **_: bool(args))
    ask(client, "joe@x.org")
    trial = Trial.objects.get()
    tasks.run_trial(trial.pk)
    assert [type(error) for _, _, error in errors] == [ZeroDivisionError]
    page = client.get(f"{NEW}?trial={trial.pk}").content.decode()
    assert "An error of this site" in page and '<details class="by-hand" open>' in page


def test_a_password_is_sent_nowhere_before_the_form_is(client: Client, lookups: Lookups) -> None:
    lookups.found = Discovered(ServerSettings("imap.x.org", 993), "srv")
    given = {"find": "1", "address": "joe@x.org", "kind": "imap", "secret": "s3cret"}
    page = client.post(NEW, given, follow=True).content.decode()
    assert "s3cret" not in page + json.dumps(repr(lookups.asked))
    assert not Source.objects.exists()


def test_the_help_of_a_provider_stays_while_its_server_is_tried(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "send", lambda _task, args, **_: bool(args))
    given = {
        "kind": "imap",
        "host": "imap.gmail.com",
        "security": "tls",
        "user": "joe@gmail.com",
        "secret": "s3cret",
        "audience": "user:alice",
        "every": "60",
    }
    page = client.post(NEW, given).content.decode()
    assert "Connecting to the server" in page and "app password only" in page
    assert "nothing has been sent there yet" not in page and "s3cret" not in page
    Trial.objects.all().delete()
    page = client.post(NEW, {**given, "host": "imap.x.org"}).content.decode()
    assert "app password only" not in page and "No mail server was found" not in page
