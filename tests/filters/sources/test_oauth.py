"""Sources that log in with tokens, which have to be renewed: none is lost, none is shown."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from filters.people.models import User
from filters.sources import tasks
from filters.sources.accounts import credentials
from filters.sources.accounts.credentials import account_of, keep_secret, read_secret
from filters.sources.accounts.oauth import Grant, Token, refresh
from filters.sources.models import Source
from filters.sources.schedule import token_lock
from tapestry.core.errors import TapestryError
from tapestry.servers.account import ConnectionLostError, RefusedError
from tests.support.servers.dovecot import USER, Dovecot, running_dovecot
from tests.support.servers.provider import Provider, running_provider

SignIn = Callable[[User], Client]

pytestmark = pytest.mark.live


@pytest.fixture(autouse=True)
def local_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tokens be got from the provider on this machine."""
    monkeypatch.setenv("TAPESTRY_LOCAL_TOKENS", "1")


@pytest.fixture(scope="module")
def judge() -> Iterator[Provider]:
    with running_provider(USER) as running:
        yield running


@pytest.fixture
def provider(judge: Provider) -> Provider:
    judge.refresh, judge.rotates, judge.broken = {"refresh-0"}, False, False
    judge.says = None
    judge.access.clear()
    judge.asked.clear()
    return judge


@pytest.fixture(scope="module")
def server(judge: Provider) -> Iterator[Dovecot]:
    # A server of its own: this one asks the provider about tokens.
    with running_dovecot(tokens=f"{judge.url}/check?token=") as running:
        running.put("INBOX", b"Message-ID: <1@x.org>\r\nFrom: joe@x.org\r\n\r\nHi\r\n")
        yield running


@pytest.fixture
def described(server: Dovecot, provider: Provider) -> dict[str, Any]:
    return {
        "kind": "imap",
        "host": "127.0.0.1",
        "port": server.port,
        "security": "none",
        "user": USER,
        "method": "xoauth2",
        "secret": "refresh-0",
        "token_url": f"{provider.url}/token",
        "client_id": "tapestry",
        "client_secret": "of-the-program",
        "audience": "user:alice",
        "every": 60,
    }


@pytest.fixture
def source(described: dict[str, Any], alice: User, as_user: SignIn) -> Source:
    response = as_user(alice).post("/sources/new/", described)
    assert response.status_code == 302, response.content.decode()
    Source.objects.update(folder_patterns=["INBOX"], active=True)
    return Source.objects.get()


def pull(source: Source) -> None:
    tasks.pull_source(source.pk)
    source.refresh_from_db()


def test_other_services_of_this_machine_are_asked_nothing(
    described: dict[str, Any],
    provider: Provider,
    alice: User,
    as_user: SignIn,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("TAPESTRY_LOCAL_TOKENS")
    page = as_user(alice).post("/sources/new/", described)
    assert "from an https:// address only" in page.content.decode()
    with pytest.raises(TapestryError, match="https"):
        refresh(Grant(f"{provider.url}/token", "", "", "refresh-0"))
    assert not provider.asked


def test_what_is_no_answer_of_a_provider_is_not_told(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider, "give", lambda asked: (400, {"error": "of the service"}))
    with pytest.raises(RefusedError, match=r"token \(400\)"):
        refresh(Grant(f"{provider.url}/token", "", "", "refresh-0"))


def test_a_token_is_got_once_and_used_until_it_ends(source: Source, provider: Provider) -> None:
    pull(source)
    pull(source)
    assert source.error == ""
    assert provider.asked == [
        {
            "grant_type": "refresh_token",
            "refresh_token": "refresh-0",
            "client_id": "tapestry",
            "client_secret": "of-the-program",
        }
    ]
    Source.objects.update(access_token_until=0)
    source.refresh_from_db()
    pull(source)
    assert len(provider.asked) == 2 and source.error == ""


def test_a_refresh_token_that_is_replaced_is_kept(source: Source, provider: Provider) -> None:
    provider.rotates = True
    for _ in range(3):
        Source.objects.update(access_token_until=0)
        source.refresh_from_db()
        pull(source)
        assert source.error == ""
    assert {read_secret(source)["secret"]} == provider.refresh
    assert read_secret(source)["client_secret"] == "of-the-program"


def test_a_token_that_was_withdrawn_is_renewed_at_the_next_pull(
    source: Source, provider: Provider
) -> None:
    provider.access.clear()
    pull(source)
    assert "refused the token" in source.error
    pull(source)
    assert source.error == ""


def test_when_access_was_withdrawn_a_sentence_says_so(source: Source, provider: Provider) -> None:
    provider.refresh.clear()
    Source.objects.update(access_token_until=0)
    pull(source)
    assert source.error == "127.0.0.1 refused to renew the token (invalid_grant)."
    assert "Give this program access anew" in source.hint


def test_when_the_provider_is_away_it_is_asked_again(source: Source, provider: Provider) -> None:
    provider.broken = True
    Source.objects.update(access_token_until=0)
    pull(source)
    assert source.error == "127.0.0.1 gives no tokens just now (503)."
    provider.broken = False
    pull(source)
    assert source.error == "" and source.failures == 0


def test_no_token_is_stored_logged_or_shown_in_the_clear(
    source: Source,
    provider: Provider,
    alice: User,
    as_user: SignIn,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.DEBUG):
        pull(source)
    page = as_user(alice).get(f"/source/{source.pk}/edit/").content.decode()
    stored = repr(Source.objects.values().get())
    for secret in ("refresh-0", "of-the-program", *provider.access):
        assert secret not in stored + page + caplog.text


def test_a_token_of_the_moment_needs_no_provider(
    described: dict[str, Any], provider: Provider, alice: User, as_user: SignIn
) -> None:
    provider.access.add("for-an-hour")
    client = as_user(alice)
    plain = {**described, "token_url": "", "client_id": "", "client_secret": ""}
    assert client.post("/sources/new/", {**plain, "secret": "for-an-hour"}).status_code == 302
    assert provider.asked == []
    answer = client.post("/sources/new/", {**plain, "secret": "of-yesterday"})
    assert "refused the token" in answer.content.decode()


def test_of_the_secrets_one_can_be_changed_alone(
    source: Source, described: dict[str, Any], alice: User, as_user: SignIn
) -> None:
    client, address = as_user(alice), f"/source/{source.pk}/edit/"
    client.post(address, {**described, "secret": "", "client_secret": "another"})
    source.refresh_from_db()
    assert read_secret(source) == {"secret": "refresh-0", "client_secret": "another"}
    client.post(address, {**described, "secret": "refresh-0", "client_secret": ""})
    source.refresh_from_db()
    assert read_secret(source) == {"secret": "refresh-0", "client_secret": "another"}


def test_a_refused_edit_changes_nothing(
    source: Source, provider: Provider, described: dict[str, Any], alice: User, as_user: SignIn
) -> None:
    provider.refresh.add("refresh-of-another")
    provider.rotates = True
    before = Source.objects.values().get()
    other = {"secret": "refresh-of-another", "token_url": f"{provider.url}/other", "user": "bob"}
    response = as_user(alice).post(
        f"/source/{source.pk}/edit/", {**described, **other, "port": 1, "host": "localhost"}
    )
    assert response.status_code == 400
    assert provider.asked[-1]["refresh_token"] == "refresh-of-another"
    assert Source.objects.values().get() == before


def test_an_edit_that_goes_well_keeps_the_token_that_came_in_its_test(
    source: Source, provider: Provider, described: dict[str, Any], alice: User, as_user: SignIn
) -> None:
    provider.refresh, provider.rotates = {"given"}, True
    response = as_user(alice).post(f"/source/{source.pk}/edit/", {**described, "secret": "given"})
    assert response.status_code == 302
    asked = len(provider.asked)
    pull(source)
    assert source.error == "" and len(provider.asked) == asked
    assert {read_secret(source)["secret"]} == provider.refresh


def test_an_edit_without_a_secret_does_not_lose_a_token_that_was_replaced(
    source: Source, provider: Provider, described: dict[str, Any], alice: User, as_user: SignIn
) -> None:
    provider.rotates = True
    Source.objects.update(access_token_until=0)
    response = as_user(alice).post(
        f"/source/{source.pk}/edit/", {**described, "secret": "", "client_secret": "", "every": 300}
    )
    assert response.status_code == 302
    source.refresh_from_db()
    assert {read_secret(source)["secret"]} == provider.refresh


def test_a_token_given_during_a_renewal_is_not_overwritten(
    source: Source, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.rotates = True
    Source.objects.update(access_token_until=0)

    def meanwhile(grant: Grant) -> Token:
        given = Source.objects.get()
        keep_secret(given, "given")
        given.save()
        return refresh(grant)

    monkeypatch.setattr(credentials, "refresh", meanwhile)
    pull(source)
    assert read_secret(source) == {"secret": "given", "client_secret": ""}
    assert source.access_token == ""


def test_the_second_renewal_uses_the_token_that_the_first_got(
    source: Source, provider: Provider
) -> None:
    provider.rotates = True
    Source.objects.update(access_token_until=0)
    first, second = Source.objects.get(), Source.objects.get()
    asked = len(provider.asked)
    assert account_of(first) == account_of(second)
    assert len(provider.asked) == asked + 1


def test_nobody_waits_for_ever_for_somebody_else_who_renews(
    source: Source, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials, "PATIENCE", 0.2)
    with token_lock(source), pytest.raises(ConnectionLostError, match="is being renewed"):
        account_of(source)


@pytest.mark.parametrize(
    "said",
    [
        b"SSH-2.0-OpenSSH\r\n",
        b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"access_token":',
        b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 900_000,
        b"HTTP/1.1 400 No\r\n\r\n" + b"[" * 900_000,
        b"HTTP/1.1 200 OK\r\n\r\n[]",
        b'HTTP/1.1 200 OK\r\n\r\n{"access_token": null}',
        b'HTTP/1.1 200 OK\r\n\r\n{"access_token": "\\ud800"}',
        b'HTTP/1.1 200 OK\r\n\r\n{"access_token": "t", "expires_in": 1e999}',
    ],
)
def test_whatever_a_provider_says_is_one_sentence(
    source: Source, provider: Provider, alice: User, as_user: SignIn, said: bytes
) -> None:
    provider.says = said
    Source.objects.update(access_token_until=0)
    pull(source)
    sentence = (
        "127.0.0.1 refused to renew the token (400)."
        if b" 400 " in said
        else "127.0.0.1 cannot be asked for a token."
        if said.startswith(b"SSH")
        else "127.0.0.1 answers with what is no token."
    )
    assert source.error == sentence
    client = as_user(alice)
    tested = client.post(f"/source/{source.pk}/test/", follow=True).content.decode()
    assert sentence in tested
    assert sentence in client.get(f"/source/{source.pk}/places/").content.decode()


def test_a_token_is_renewed_after_a_day_at_the_latest(provider: Provider) -> None:
    provider.says = b'HTTP/1.1 200 OK\r\n\r\n{"access_token": "t", "expires_in": 1%s}' % (b"0" * 30)
    assert refresh(Grant(f"{provider.url}/token", "", "", "r")).seconds == 24 * 3600


@pytest.mark.parametrize("url", ["http://x.org/token", "ftp://x.org", "https://", "nonsense"])
def test_secrets_are_sent_to_https_only(url: str) -> None:
    with pytest.raises(TapestryError, match="https:// address only"):
        refresh(Grant(url, "", "", "secret"))


@pytest.mark.usefixtures("provider")
def test_a_provider_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(TapestryError, match=r"127\.0\.0\.1 cannot be asked for a token") as caught:
        refresh(Grant("http://127.0.0.1:1/token", "", "", "secret"))
    assert "secret" not in caught.value.render()
