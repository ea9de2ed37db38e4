"""Calls with a key: made once, however often a program sends them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from filters.api import idempotency
from filters.api.authentication import make_token
from filters.api.models import KeptAnswer
from filters.people.models import User
from filters.people.tasks import tend_accounts
from tapestry.core.clock import DAY, wall_clock

Sent = Callable[..., HttpResponse]


@pytest.fixture
def send(alice: User) -> Sent:
    """Return a function that sends a template to be stored, under a key."""
    secrets = {name: make_token(alice, name, ["drafts"], 7)[1] for name in ("one", "two")}
    client = Client()

    def sent(key: str, text: str, token: str = "one") -> Any:
        headers = {"Authorization": f"Bearer {secrets[token]}", "Idempotency-Key": key}
        given = {"text": text}
        return client.post("/api/v1/templates", given, "application/json", headers=headers)

    return sent


def test_the_same_call_is_made_once(alice: User, send: Sent) -> None:
    first, again = send("a", "Yours"), send("a", "Yours")
    assert first.status_code == again.status_code == 201
    assert first.content == again.content
    assert again.headers["Idempotency-Replayed"] == "true"
    assert alice.templates.count() == 1
    assert "Yours" not in KeptAnswer.objects.get().content, "it is encrypted"
    send("b", "Yours")
    send("a", "Yours", token="two")
    assert alice.templates.count() == 3, "another key, or token, is another call"


def test_a_key_is_of_one_call(alice: User, send: Sent) -> None:
    assert send("a", "").status_code == send("a", "").status_code == 422
    refused = send("a", "Other")
    assert refused.status_code == 422 and "a key of its own" in refused.json()["detail"]
    assert not alice.templates.exists()
    assert send("k" * 300, "Yours").status_code == 422


def test_two_at_once_and_what_was_lost(alice: User, send: Sent) -> None:
    send("a", "Yours")
    KeptAnswer.objects.update(status=None)
    assert send("a", "Yours").status_code == 409
    KeptAnswer.objects.update(at=wall_clock() - idempotency.LOST - 1)
    lost = send("a", "Yours")
    assert lost.status_code == 409 and "not known whether" in lost.json()["detail"]
    assert alice.templates.count() == 1, "it is not made again"
    KeptAnswer.objects.update(at=wall_clock() - DAY - 1)
    send("a", "Yours")
    assert alice.templates.count() == 2, "a day later the key is forgotten"
    KeptAnswer.objects.update(at=wall_clock() - DAY - 1)
    tend_accounts()
    assert not KeptAnswer.objects.exists(), "even where its program calls no more"


def test_what_failed_by_itself_may_be_tried_again(
    alice: User, send: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("filters.api.calls.sending.texts.store_template", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            send("a", "Yours")
    assert send("a", "Yours").status_code == 201
