"""Programs that wait by an event source (RFC 8620, 7.3)."""

from __future__ import annotations

from collections.abc import Callable
from threading import BoundedSemaphore

import pytest
from django.db.models import Model
from django.http import HttpResponse

from filters.api import waits
from filters.inbox.triage.actions import ACTIONS
from filters.inbox.triage.steps import Target, act
from filters.jmap import views
from filters.people.models import User
from tapestry.tables.delta.log import Tables
from tests.filters.jmap.conftest import Program
from tests.support.answers.tokens import ENDINGS, end_all
from tests.support.lists.listed_mail import find, installed, letters


@pytest.fixture
def listed(tables: Tables, alice: User) -> None:
    letters(tables, "a@x")
    find(tables, installed(alice, "plans"), "a@x")


def test_a_program_that_waits_is_told_of_what_is_new(
    program: Callable[..., Program], alice: User, listed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    call, pauses = program(alice), []
    address = "/jmap/eventsource/?types=Email&closeafter=no&ping=30"
    monkeypatch.setattr(views, "LONGEST_WAIT", 0.01)
    first = call.get(address)
    assert first["Content-Type"] == "text/event-stream"
    known = _fields(first)
    assert known["event"] == "state"
    again = call.get(address, **{"Last-Event-ID": known["id"]})
    assert _fields(again)["event"] == "ping" and "StateChange" not in again.content.decode()

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        act(alice, ACTIONS["read"], [Target("a@x", "public", "")])

    monkeypatch.setattr(views, "LONGEST_WAIT", 20)
    monkeypatch.setattr(waits, "sleep", pause)
    last = _fields(call.get(address, **{"Last-Event-ID": known["id"]}))
    assert "StateChange" in last["data"] and last["id"] != known["id"] and len(pauses) == 1
    assert int(last["retry"]) < 1000


@pytest.mark.parametrize(("of", "changed"), ENDINGS)
def test_a_program_that_waits_is_told_nothing_once_its_token_has_ended(
    program: Callable[..., Program],
    alice: User,
    listed: None,
    monkeypatch: pytest.MonkeyPatch,
    of: type[Model],
    changed: dict[str, int],
) -> None:
    call, address = program(alice), "/jmap/eventsource/?types=Email&closeafter=no&ping=30"
    known = _fields(call.get(address))

    def pause(seconds: float) -> None:
        act(alice, ACTIONS["read"], [Target("a@x", "public", "")])
        end_all(of, changed)

    monkeypatch.setattr(waits, "sleep", pause)
    refused = call.get(address, **{"Last-Event-ID": known["id"]})
    assert refused.status_code == 401 and "data" not in refused.content.decode()


def test_a_program_for_which_no_thread_is_left_is_answered_at_once(
    program: Callable[..., Program], alice: User, listed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    call, address = program(alice), "/jmap/eventsource/?types=*&closeafter=no&ping=0"
    known = _fields(call.get(address))
    monkeypatch.setattr(waits, "_places", BoundedSemaphore(1))
    with waits._places:
        left = _fields(call.get(address, **{"Last-Event-ID": known["id"]}))
    assert set(left) == {"retry"} and int(left["retry"]) >= 1000


def _fields(response: HttpResponse) -> dict[str, str]:
    lines = response.content.decode().splitlines()
    return dict(line.split(": ", 1) for line in lines if line)
