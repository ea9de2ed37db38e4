"""Requests of one browser at one time: each keeps its own changes of their session."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.test import Client
from django.urls import reverse

from filters.inbox.search import recent
from filters.people.models import User

SignIn = Callable[[User], Client]


def begun(client: Client) -> SessionBase:
    """Return the session of a browser as a request that is under way has read it."""
    store: Any = import_module(settings.SESSION_ENGINE).SessionStore
    session: SessionBase = store(client.cookies[settings.SESSION_COOKIE_NAME].value)
    session.has_key("")
    return session


def test_a_search_under_way_leaves_that_its_person_has_confirmed(
    alice: User, as_user: SignIn
) -> None:
    client = as_user(alice)
    search = begun(client)
    client.post(reverse("confirm-person"), {"password": "secret"})
    recent.remember(search, "votes by Jones")
    search.save()
    assert client.get(reverse("add-passkey")).status_code == 200
    assert recent.recent(client.session) == ["votes by Jones"]


def test_what_another_request_has_used_up_does_not_come_back(alice: User, as_user: SignIn) -> None:
    client = as_user(alice)
    first = begun(client)
    first["challenge"], first["other"] = "once", 1
    first.save()
    search = begun(client)
    first.pop("challenge")
    first.save()
    recent.remember(search, "votes by Jones")
    del search["other"]
    search.save()
    now = client.session
    assert "challenge" not in now
    assert "other" not in now
