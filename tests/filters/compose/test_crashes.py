"""The outbox after a crash: whatever step it hits, one message goes out and is stored once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from unittest import mock

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from filters.compose.models import OutgoingMessage
from filters.compose.sending import outbox, steps, storing
from tapestry.compose.revision import is_same_version
from tapestry.compose.transmission import Transmission
from tapestry.core.clock import HOUR, SECOND, wall_clock
from tapestry.tables.delta.log import Tables
from tests.support.delivery.composed import rows_of, send_due, typed
from tests.support.servers.smtp import SmtpServer
from tests.support.set_clock import SetClock


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
    store_step = steps._set

    def die(row: OutgoingMessage, **changes: Any) -> None:
        if "sent_at" in changes:
            raise KeyboardInterrupt
        store_step(row, **changes)

    with monkeypatch.context() as patched:
        patched.setattr(steps, "_set", die)
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
        patched.setattr(steps, step, die)
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

    monkeypatch.setattr(steps, "file", file)
    store_step, left = steps._set, [number]

    def die(row: OutgoingMessage, **changes: Any) -> None:
        if not left[0]:
            left[0] = -1
            raise KeyboardInterrupt
        left[0] -= 1
        store_step(row, **changes)

    monkeypatch.setattr(steps, "_set", die)
    for _ in range(4):
        OutgoingMessage.objects.filter(failures__gt=0).update(failures=9, failing_since=1)
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


DOINGS = st.one_of(
    st.tuples(st.just("wait"), st.integers(1, 300)),  # minutes
    st.tuples(st.just("set back"), st.integers(2, 90)),
    st.tuples(st.just("work"), st.integers(-1, 6)),  # the step at which the process is killed
    st.tuples(st.just("put off"), st.integers(1, 600)),
    st.tuples(st.just("send now"), st.none()),
    st.tuples(st.just("take back"), st.none()),
    st.tuples(st.just("send off"), st.integers(1, 600)),
)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(DOINGS, max_size=14))
def test_a_letter_for_later_is_sent_once_and_not_before_its_time(
    browser: Client, monkeypatch: pytest.MonkeyPatch, doings: list[tuple[str, Any]]
) -> None:
    """Whatever its writer changes, wherever a process is killed, and if the clock is set back."""
    OutgoingMessage.objects.all().delete()
    clock = SetClock(wall_clock(), monkeypatch)
    sent: list[bytes] = []
    browser.post("/compose/", typed(do="save"))

    def send(_: object, sender: str, pending: list[str], raw: bytes) -> Transmission:
        row = OutgoingMessage.objects.get()
        assert (row.send_at or 0) <= clock.now, "before its time"
        sent.append(raw)
        assert is_same_version(sent[0], raw) and row.message_id.encode() in sent[0], "another"
        return Transmission(accepted=tuple(pending))

    with _replaced(send_mail=send, store=lambda *_: 1, file=lambda *_: ""):
        for what, value in [("send off", 60), *doings, ("wait", 1200), ("work", -1)]:
            _do(clock, what, value)
    row = OutgoingMessage.objects.get()
    killed = sum(what == "work" and value >= 0 for what, value in doings)
    assert len(sent) <= 1 + killed, "twice"
    assert row.state == ("sent" if row.sent_at else "draft")
    assert bool(sent) == bool(row.sent_at or row.unanswered_at), "the writer is told of it"


def _do(clock: SetClock, what: str, value: Any) -> None:
    row = OutgoingMessage.objects.select_related("owner").get()
    if what in ("wait", "set back"):
        clock.now += value * HOUR // 60 * (1 if what == "wait" else -1)
    elif what == "work":
        with suppress(KeyboardInterrupt), _killed_at(value):
            for key in outbox.due():
                outbox.send(key)
    elif what == "send off" and row.is_draft:
        outbox.queue(row, clock.now + value * HOUR // 60)
    elif what == "take back":
        outbox.undo(row)
    elif what in ("put off", "send now"):
        before, now = row.send_at, clock.now
        send_at = None if value is None else now + value * HOUR // 60
        if outbox.reschedule(row, send_at):
            row.refresh_from_db()
            assert before > now and row.due_at == (send_at or now + 10 * SECOND)


@contextmanager
def _killed_at(step: int) -> Iterator[None]:
    store_step, left = steps._set, [step]

    def die(row: OutgoingMessage, **changes: Any) -> None:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        store_step(row, **changes)

    with mock.patch.object(steps, "_set", die):
        yield


@contextmanager
def _replaced(**others: Any) -> Iterator[None]:
    uncounted = mock.patch.object(outbox, "count_message", id)
    with mock.patch.multiple(steps, **others), uncounted:
        yield
