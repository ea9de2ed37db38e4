"""Passwords are not guessed: after a few wrong ones, none is looked at for a while."""

from __future__ import annotations

import logging
import re
import secrets
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth import aauthenticate
from django.http import HttpResponse
from django.test import Client, RequestFactory

from filters.people.models import User
from tests.support.faults.races import race
from tests.support.people.counted_hasher import CountedHasher
from tests.support.processes.process_memory import forget_tries

SENTENCE = "Too many wrong passwords: please try again in 5 minutes."


@pytest.fixture(autouse=True)
def hashed(settings: Any) -> list[str]:
    """The passwords that were hashed, beside those of the accounts."""
    settings.PASSWORD_HASHERS = ["tests.support.people.counted_hasher.CountedHasher"]
    settings.PROXIES = 1
    CountedHasher.hashed.clear()
    return CountedHasher.hashed


@pytest.fixture
def root(db: None, hashed: list[str]) -> User:
    made = User.objects.create_superuser("root", "root@example.org", "the right one")
    hashed.clear()
    return made


def attempt(
    name: str,
    password: str = "wrong",
    *,
    address: str = "192.0.2.1",
    browser: Client | None = None,
) -> HttpResponse:
    given = {"username": name, "password": password}
    headers = {"X-Forwarded-For": address}
    response: Any = (browser or Client()).post("/sign-in/", given, headers=headers)
    return response


def statuses(times: int, name: str, **named: Any) -> list[int]:
    return [attempt(name, **named).status_code for _ in range(times)]


def test_after_five_wrong_ones_the_right_one_is_not_looked_at(
    root: User, hashed: list[str]
) -> None:
    assert statuses(5, "root") == [200] * 5
    assert hashed == ["wrong"] * 5
    refused = attempt("root", "the right one")
    assert (refused.status_code, len(hashed)) == (429, 5)
    assert 295 <= int(refused["Retry-After"]) <= 300
    assert SENTENCE in refused.content.decode()
    assert "Wrong name" not in refused.content.decode()
    assert "sessionid" not in refused.cookies and "tapestry_session" not in refused.cookies


def test_other_addresses_and_other_names_are_still_looked_at(root: User, alice: User) -> None:
    statuses(6, "root")
    assert attempt("root", "the right one", address="192.0.2.2").status_code == 302
    assert attempt("alice", "secret").status_code == 302


def test_an_address_has_thirty(root: User) -> None:
    answers = [attempt(f"name{number}").status_code for number in range(31)]
    assert answers == [200] * 30 + [429]
    refused = attempt("root", "the right one")
    assert refused.status_code == 429 and "in 15 minutes." in refused.content.decode()
    assert attempt("root", "the right one", address="192.0.2.2").status_code == 302


def test_an_ipv6_network_is_one_address(root: User) -> None:
    answers = [
        attempt(f"name{number}", address=f"2001:db8:0:1::{number:x}").status_code
        for number in range(31)
    ]
    assert answers == [200] * 30 + [429]
    assert attempt("root", "the right one", address="2001:db8:0:2::1").status_code == 302


def test_an_account_has_fifty(root: User, alice: User) -> None:
    answers = [attempt("root", address=f"192.0.2.{number}").status_code for number in range(51)]
    assert answers == [200] * 50 + [429]
    assert attempt("root", "the right one", address="192.0.2.99").status_code == 429
    assert attempt("alice", "secret", address="192.0.2.99").status_code == 302


def test_a_stranger_does_not_lock_a_person_out_of_their_own_browser(root: User) -> None:
    own = Client()
    assert attempt("root", "the right one", browser=own).status_code == 302
    own.post("/sign-out/")
    for number in range(51):
        attempt("root", address=f"192.0.2.{number}")
    assert attempt("root", "the right one", address="192.0.2.1").status_code == 429
    assert attempt("root", "the right one", browser=own).status_code == 302


def test_a_known_browser_has_five_of_its_own(root: User) -> None:
    own = Client()
    attempt("root", "the right one", browser=own)
    own.post("/sign-out/")
    assert statuses(6, "root", browser=own) == [200] * 5 + [429]
    assert attempt("root", "the right one").status_code == 302, "elsewhere nothing is counted"


def test_a_browser_is_known_to_one_account_and_by_a_cookie_that_only_the_site_makes(
    root: User, alice: User
) -> None:
    own = Client()
    attempt("alice", "secret", browser=own)
    cookie = own.cookies["tapestry_browser"]
    assert cookie["httponly"] and cookie["samesite"] == "Lax"
    assert int(cookie["max-age"]) == 365 * 24 * 60 * 60
    assert "alice" not in cookie.value
    own.post("/sign-out/")
    statuses(5, "root")
    assert attempt("root", "the right one", browser=own).status_code == 429
    statuses(5, "alice")
    forged = Client()
    forged.cookies["tapestry_browser"] = cookie.value.replace(".", ".0", 1)
    assert attempt("alice", "secret", browser=forged).status_code == 429
    assert attempt("alice", "secret", browser=own).status_code == 302


def test_a_browser_that_knows_an_account_has_no_tries_at_another_of_a_like_name(
    db: None, settings: Any
) -> None:
    # As two that were there before such names were refused.
    User.objects.bulk_create([User(username=name) for name in ("straße", "strasse")])
    mine = User.objects.get(username="straße")
    mine.set_password("the right one")
    mine.save()
    browser = Client()
    assert statuses(5, "strasse", address="192.0.2.9") == [200] * 5
    for _ in range(2):
        assert attempt("straße", "the right one", browser=browser).status_code == 302
        del browser.cookies[settings.SESSION_COOKIE_NAME]
        assert attempt("strasse", address="192.0.2.9", browser=browser).status_code == 429


def test_those_who_succeed_are_not_counted(root: User) -> None:
    assert statuses(40, "root", password="the right one") == [302] * 40
    assert statuses(6, "root") == [200] * 5 + [429]


def seen(response: HttpResponse, name: str) -> tuple[int, str, set[str]]:
    """Return what a stranger sees of an answer, without the name and the tokens of the form."""
    page = re.sub(r"\b\w{64}\b", "", response.content.decode())
    return response.status_code, page.replace(name, "NAME"), set(response.headers)


def test_a_name_that_nobody_has_is_treated_alike(root: User, hashed: list[str]) -> None:
    answers = {}
    for name, address in (("root", "192.0.2.1"), ("nobody", "192.0.2.2")):
        hashed.clear()
        pages = [seen(attempt(name, address=address), name) for _ in range(7)]
        answers[name] = (pages, list(hashed))
    assert answers["root"] == answers["nobody"]
    assert [page[0] for page in answers["root"][0]] == [200] * 5 + [429] * 2


def test_another_way_to_write_a_name_is_the_same_name(root: User) -> None:
    statuses(3, "ROOT")
    statuses(2, " root ")
    assert attempt("root", "the right one").status_code == 429


@pytest.mark.django_db(transaction=True)
def test_tries_at_the_same_moment_do_not_exceed_a_limit(root: User, hashed: list[str]) -> None:
    answers = race(*[lambda: attempt("root").status_code] * 12)
    assert sorted(map(str, answers)) == ["200"] * 5 + ["429"] * 7
    assert len(hashed) == 5


def test_each_failure_and_each_refusal_is_one_line_of_the_log(
    root: User, caplog: pytest.LogCaptureFixture
) -> None:
    name = "root\u2028sign_in_failed account=\nalice"
    with caplog.at_level(logging.INFO, "filters"):
        statuses(6, "root")
        attempt(name, address="2001:db8::1")
    failed = 'account=root address=192.0.2.1 reason="wrong name or password"'
    escaped = '"root\\u2028sign_in_failed account=\\nalice"'
    lines = [r.getMessage() for r in caplog.records if r.name.endswith("signing_in.backend")]
    assert lines == [
        *[f"sign_in_failed {failed}"] * 5,
        'sign_in_refused account=root address=192.0.2.1 reason="account and address"',
        f'sign_in_failed account={escaped} address=2001:db8::1 reason="wrong name or password"',
    ]


@pytest.mark.django_db(transaction=True)
def test_asynchronous_callers_are_limited(root: User) -> None:
    request = RequestFactory().post("/", headers={"X-Forwarded-For": "192.0.2.1"})

    def asynchronously(password: str) -> object:
        return async_to_sync(aauthenticate)(request, username="root", password=password)

    assert [asynchronously("wrong") for _ in range(5)] == [None] * 5
    assert asynchronously("the right one") is None


def test_processes_count_together_in_redis(
    redis_url: str, root: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", redis_url)
    address = f"2001:db8:{secrets.randbelow(1 << 16):x}:{secrets.randbelow(1 << 16):x}::1"
    for expected in [200] * 5 + [429]:
        forget_tries()  # as in another process
        assert attempt("root", address=address).status_code == expected
