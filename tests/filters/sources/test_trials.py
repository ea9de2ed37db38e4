"""Trials of connections: one at a time for a person, few in a minute, none in a web thread."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from filters.people.models import User
from filters.runs.models import SetAside
from filters.site.settings.budgets import read_budgets
from filters.sources import tasks, writing
from filters.sources.accounts import trials
from filters.sources.models import Source, Trial
from tapestry.core.clock import MINUTE, SECOND, wall_clock
from tests.support.faults.set_asides import Planted
from tests.support.people.publishers import let_publish

SignIn = Callable[[User], Client]

pytestmark = pytest.mark.django_db

DESCRIBED = {
    "kind": "imap",
    "host": "127.0.0.1",
    "security": "none",
    "user": "joe",
    "secret": "s3cret",
    "audience": "user:alice",
    "every": "60",
}
NEW = "/sources/new/"
HTMX = {"HX-Request": "true"}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The trials that were sent to the worker; none is run."""
    sent: list[int] = []

    def send(_task: Any, args: tuple[int], **_options: Any) -> bool:
        sent.extend(args)
        return True

    monkeypatch.setattr(trials, "send", send)
    return sent


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that accepts connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_pages_answer_at_once_whatever_the_server_does(
    alice: User, as_user: SignIn, sent: list[int], silent: int
) -> None:
    client = as_user(alice)
    page = client.post(NEW, {**DESCRIBED, "port": silent}).content.decode()
    trial = Trial.objects.get()
    assert sent == [trial.pk] and f'hx-get="/trial/{trial.pk}/"' in page
    assert "s3cret" not in page + trial.question
    waiting = client.get(f"/trial/{trial.pk}/", headers=HTMX).content.decode()
    assert "Connecting to the server" in waiting and "hx-get" in waiting
    assert not Source.objects.exists()


def test_one_at_a_time_and_the_same_again_is_the_same(
    alice: User, bob: User, as_user: SignIn, sent: list[int]
) -> None:
    client, given = as_user(alice), {**DESCRIBED, "port": 1}
    client.post(NEW, given)
    client.post(NEW, given)
    assert len(sent) == 1
    page = client.post(NEW, {**given, "port": 2})
    assert page.status_code == 400
    assert "Another connection is being tried for you." in page.content.decode()
    as_user(bob).post(NEW, {**given, "audience": "user:bob"})
    assert len(sent) == 2


def test_few_in_a_minute(alice: User, as_user: SignIn, sent: list[int]) -> None:
    client = as_user(alice)
    for port in range(1, trials.MOST_A_MINUTE + 1):
        client.post(NEW, {**DESCRIBED, "port": port})
        Trial.objects.update(ended_at=wall_clock())
    page = client.post(NEW, {**DESCRIBED, "port": 99}).content.decode()
    assert "You tried 10 connections within a minute." in page
    assert len(sent) == trials.MOST_A_MINUTE
    Trial.objects.update(asked_at=wall_clock() - 2 * MINUTE)
    client.post(NEW, {**DESCRIBED, "port": 99})
    assert len(sent) == trials.MOST_A_MINUTE + 1


def test_a_worker_that_does_not_answer_is_said(
    alice: User, as_user: SignIn, sent: list[int]
) -> None:
    client = as_user(alice)
    client.post(NEW, {**DESCRIBED, "port": 1})
    Trial.objects.update(asked_at=wall_clock() - (trials.EXPIRES + 1) * SECOND)
    page = client.get(f"/trial/{sent[0]}/", headers=HTMX).content.decode()
    assert "The worker does not answer" in page and "hx-get" not in page
    tasks.run_trial(sent[0])  # too late
    trial = Trial.objects.get()
    assert trial.error == trials.NO_WORKER and trial.question == ""
    client.post(NEW, {**DESCRIBED, "port": 1})
    assert len(sent) == 2, "the next may be tried"


def test_a_queue_that_is_not_there_is_said(
    alice: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "send", lambda *_args, **_options: False)
    page = as_user(alice).post(NEW, {**DESCRIBED, "port": 1}).content.decode()
    assert "The queue (Redis) cannot be reached." in page
    assert not Trial.objects.exists()


def test_what_failed_is_shown_where_it_was_asked_and_to_nobody_else(
    alice: User, bob: User, as_user: SignIn, sent: list[int]
) -> None:
    as_user(alice).post(NEW, {**DESCRIBED, "port": 1})
    tasks.run_trial(sent[0])
    trial = Trial.objects.get()
    assert trial.question == "" and trial.ended_at is not None
    page = as_user(alice).get(f"/trial/{trial.pk}/", headers=HTMX).content.decode()
    assert "There is no connection with 127.0.0.1:1." in page
    assert as_user(bob).get(f"/trial/{trial.pk}/", headers=HTMX).status_code == 404


def test_a_host_that_is_not_public_is_refused_in_trials_and_pulls(
    alice: User, as_user: SignIn, settings: Any, silent: int
) -> None:
    settings.PRIVATE_HOSTS = []
    page = as_user(alice).post(NEW, {**DESCRIBED, "port": silent})
    assert page.status_code == 400
    assert f"There is no connection with 127.0.0.1:{silent}." in page.content.decode()
    assert "(TAPESTRY_PRIVATE_HOSTS)" in page.content.decode()
    source = Source.objects.create(
        owner=alice, kind="imap", host="127.0.0.1", port=silent, security="none", user="joe",
        audience="user:alice", folder_patterns=["INBOX"], active=True,
    )  # fmt: skip
    tasks.pull_source(source.pk)
    source.refresh_from_db()
    assert source.error == f"There is no connection with 127.0.0.1:{silent}."
    assert "must be allowed by who runs this site (TAPESTRY_PRIVATE_HOSTS)" in source.hint


def test_a_group_that_is_deleted_during_the_trial_gets_no_source(
    alice: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_publish(alice)
    monkeypatch.setattr(writing, "try_out", lambda _account: Group.objects.all().delete())
    page = as_user(alice).post(NEW, {**DESCRIBED, "port": 1, "audience": "group:parc"})
    assert page.status_code == 400
    assert "Something has changed in the meantime." in page.content.decode()
    assert not Source.objects.exists()


def test_a_token_endpoint_that_is_not_public_is_not_asked(
    alice: User, as_user: SignIn, settings: Any, silent: int
) -> None:
    settings.PRIVATE_HOSTS = []
    token = {"method": "xoauth2", "token_url": f"https://127.0.0.1:{silent}/", "client_id": "t"}
    page = as_user(alice).post(NEW, {**DESCRIBED, "port": 1, **token})
    assert "127.0.0.1 cannot be asked for a token." in page.content.decode()


def test_an_error_that_nobody_foresaw_is_said_with_its_number(
    alice: User, monkeypatch: pytest.MonkeyPatch, set_asides: Planted
) -> None:
    errors = set_asides.expect()
    trial = trials.begin(alice, "test:1", writing.test, {})
    aside = SetAside.objects.get()
    assert trial.error == aside.reason and f"(number {aside.pk})" in trial.error
    assert trial.ended_at and len(errors) == 1


@pytest.mark.parametrize("kind", ["imap", "nntp"])
def test_the_worker_is_told_only_what_the_form_takes_for_names(
    alice: User, as_user: SignIn, sent: list[int], kind: str
) -> None:
    source = Source.objects.create(
        owner=alice, kind=kind, host="x.org", port=1, audience="user:alice"
    )
    wrong = ["*\r\nPOST\r\nFrom: joe@x.org", "a\0", "x" * 600]
    ticked = {"folder": ["comp.*", *wrong]}
    page = as_user(alice).post(f"/source/{source.pk}/places/", ticked)
    assert page.status_code == 400 and "is n" in page.content.decode()
    trial = Trial.objects.get()
    assert sent == [trial.pk] and trials._question(trial)["named"] == ["comp.*"]


def test_a_person_may_have_so_many_sources(
    alice: User, as_user: SignIn, sent: list[int], settings: Any
) -> None:
    settings.BUDGETS = read_budgets("sources=1")
    source = Source.objects.create(
        owner=alice, kind="imap", host="x.org", port=1, audience="user:alice"
    )
    client, given = as_user(alice), {**DESCRIBED, "port": 1}
    page = client.post(NEW, given)
    assert page.status_code == 400 and sent == []
    assert "You have 1 sources; you may have 1." in page.content.decode()
    client.post(f"/source/{source.pk}/edit/", given)
    assert len(sent) == 1, "those there are may be changed"
