"""Browsers are recorded as they are used, and forgotten with their sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client

from filters.people.models import BrowserSession, User
from filters.people.sessions import record
from tapestry.core.clock import MINUTE, wall_clock

SignIn = Callable[[User], Client]


def test_a_page_within_five_minutes_writes_nothing(
    alice: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = as_user(alice)
    before = BrowserSession.objects.values().get()
    client.get("/me/", REMOTE_ADDR="192.0.2.7")
    assert BrowserSession.objects.values().get() == before
    later = wall_clock() + 6 * MINUTE
    monkeypatch.setattr(record, "wall_clock", lambda: later)
    client.get("/me/", REMOTE_ADDR="192.0.2.7")
    after = BrowserSession.objects.get()
    assert (after.seen_at, after.address) == (later, "192.0.2.7")
    assert after.created_at == before["created_at"]


def test_what_has_ended_is_forgotten(alice: User, bob: User, as_user: SignIn) -> None:
    here, gone, expired = as_user(alice), as_user(alice), as_user(bob)
    gone.post("/sign-out/")
    expired_key = expired.session.session_key
    Session.objects.filter(session_key=expired_key).update(expire_date="2001-09-09T00:00Z")
    assert [row.session_key for row in record.browsers_of(alice)] == [here.session.session_key]
    assert not record.browsers_of(bob)
    record.forget_ended()
    assert Session.objects.count() == BrowserSession.objects.count() == 1


def test_strangers_are_not_recorded(client: Client, db: Any) -> None:
    client.get("/sign-in/")
    client.post("/sign-in/", {"username": "x", "password": "y"})
    assert not BrowserSession.objects.exists()


def test_an_answer_for_a_former_session_leaves_the_cookie_of_the_newer_one(
    alice: User, as_user: SignIn, client: Client
) -> None:
    """Whoever signs in has a new key; the browser may have asked something before, by the old."""
    here, name = as_user(alice), settings.SESSION_COOKIE_NAME
    client.cookies[name] = here.cookies[name].value
    here.session.cycle_key()
    assert name not in client.get("/sw.js").cookies
    assert name not in client.get("/me/").cookies


def test_the_cookie_of_a_session_goes_with_it(alice: User, as_user: SignIn) -> None:
    answer = as_user(alice).post("/sign-out/")
    assert answer.cookies[settings.SESSION_COOKIE_NAME].value == ""
