"""The outbox after a crash: whatever step it hits, one message goes out and is stored once."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from django.test import Client

from filters.compose import outbox, storing
from filters.compose.models import OutgoingMessage
from tapestry.tables.delta.log import Tables
from tests.support.composed import rows_of, send_due, typed
from tests.support.servers.smtp import SmtpServer


def test_a_crash_after_sending_sends_it_again_under_its_own_message_id(
    browser: Client, smtp: SmtpServer, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.post("/compose/", typed())
    _crash_after_sending(monkeypatch)
    send_due()
    first, second = smtp.taken
    assert first == second and len(rows_of(tables)) == 1


def test_what_is_taken_back_after_a_crash_keeps_its_message_id(
    browser: Client, smtp: SmtpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = typed()
    browser.post("/compose/", form)
    _crash_after_sending(monkeypatch)
    row = OutgoingMessage.objects.get()
    browser.post(f"{row.get_absolute_url()}undo/")
    browser.post("/compose/", form)
    send_due()
    first, second = smtp.messages
    assert first["Message-ID"] == second["Message-ID"]


def _crash_after_sending(monkeypatch: pytest.MonkeyPatch) -> None:
    """Die when the server has taken the letter, and that is not stored yet."""
    store_step = outbox._set

    def die(row: OutgoingMessage, **changes: Any) -> None:
        if "sent_at" in changes:
            raise KeyboardInterrupt
        store_step(row, **changes)

    with monkeypatch.context() as patched:
        patched.setattr(outbox, "_set", die)
        with pytest.raises(KeyboardInterrupt):
            send_due()


@pytest.mark.parametrize("step", ["store", "file"])
def test_a_crash_after_another_step_repeats_that_alone(
    browser: Client, smtp: SmtpServer, tables: Tables, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    browser.post("/compose/", typed())
    done = getattr(storing, step)

    def die(*arguments: Any) -> None:
        done(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(outbox, step, die)
        with pytest.raises(KeyboardInterrupt):
            send_due()
    send_due()
    row = OutgoingMessage.objects.get()
    assert (row.state, row.holder, row.due_at) == ("sent", "", None)
    assert len(smtp.taken) == 1 and len(rows_of(tables)) == 1


@pytest.mark.parametrize("number", range(14))
def test_a_crash_between_any_two_steps_files_the_copy(
    browser: Client, smtp: SmtpServer, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Some have it and others are given up: it is filed, wherever that was interrupted."""
    smtp.rcpt_of = {"b@x.org": "451 later"}
    browser.post("/compose/", typed(to="a@x.org, b@x.org"))
    filed: set[int] = set()

    def file(row: OutgoingMessage, _: int) -> str:
        filed.add(row.pk)
        return "Sent of alice"

    monkeypatch.setattr(outbox, "file", file)
    store_step, left = outbox._set, [number]

    def die(row: OutgoingMessage, **changes: Any) -> None:
        if not left[0]:
            left[0] = -1
            raise KeyboardInterrupt
        left[0] -= 1
        store_step(row, **changes)

    monkeypatch.setattr(outbox, "_set", die)
    for _ in range(4):
        OutgoingMessage.objects.filter(failures__gt=0).update(failing_since=1)
        with suppress(KeyboardInterrupt):
            send_due()
    row = OutgoingMessage.objects.get()
    assert (row.state, list(row.refused), row.due_at) == ("sent", ["b@x.org"], None)
    assert row.filed_in == "Sent of alice" and filed == {row.pk}


def test_what_a_killed_process_held_is_free_again(browser: Client, smtp: SmtpServer) -> None:
    browser.post("/compose/", typed())
    OutgoingMessage.objects.update(due_at=1, holder="gone:1")
    row = OutgoingMessage.objects.get()
    assert not outbox.send(row.pk) and outbox.due() == [row.pk] and outbox.send(row.pk)
    assert len(smtp.taken) == 1
