"""Floods, which come as one digest, and digests that come too often."""

from __future__ import annotations

from typing import Any

import pytest

from filters.authoring.models import Filter
from filters.delivery.mail import outgoing
from filters.delivery.models import Delivery
from filters.delivery.pace import MOST_AN_HOUR
from filters.inbox.models import Match
from filters.people.models import User
from tapestry.core.clock import DAY, HOUR, wall_clock
from tapestry.deliver.batch import Outcome
from tests.support.delivery.recorded_way import MakeDestination, Store
from tests.support.delivery.turn import turn_of_mail
from tests.support.servers.smtp import SmtpServer


def flood(store: Store, filter_: Filter) -> None:
    """Have a filter find far more than usual."""
    for number in range(40):
        store(filter_, f"m{number}")


@pytest.mark.usefixtures("kept_original")
def test_a_flood_comes_as_one_digest_with_a_note(
    jones: Filter, store: Store, smtp: SmtpServer, to_alice: MakeDestination
) -> None:
    to_alice("forward")
    flood(store, jones)
    turn_of_mail()
    [message] = smtp.messages
    body = message.get_body(("plain",))
    assert body is not None
    assert "far more than usual" in body.get_content()
    turn_of_mail()
    assert len(smtp.messages) == 1


def test_digests_wait_when_there_were_twelve_in_an_hour(
    jones: Filter, store: Store, smtp: SmtpServer, to_alice: MakeDestination
) -> None:
    destination = to_alice("digest")
    most = MOST_AN_HOUR
    for number in range(most + 3):
        store(jones, f"m{number}")
        turn_of_mail()
    assert len(smtp.messages) == most
    destination.refresh_from_db()
    assert destination.claimed_until is None, "what comes meanwhile is in the next digest too"
    Delivery.objects.update(at=wall_clock() - HOUR)
    turn_of_mail()
    assert len(smtp.messages) == most + 1
    body = smtp.messages[-1].get_body(("plain",))
    assert body is not None
    assert all(f"About m{number}" in body.get_content() for number in range(most, most + 3))


def test_digests_sent_before_the_clock_was_set_back_hold_up_none(
    jones: Filter, store: Store, smtp: SmtpServer, to_alice: MakeDestination
) -> None:
    to_alice("digest")
    most = MOST_AN_HOUR
    for number in range(most):
        store(jones, f"m{number}")
        turn_of_mail()
    Delivery.objects.update(at=wall_clock() + 3 * DAY)
    store(jones, "new")
    turn_of_mail()
    assert len(smtp.messages) == most + 1


@pytest.mark.usefixtures("kept_original")
def test_a_flood_whose_digest_fails_repeats_no_other_message(
    alice: User,
    jones: Filter,
    store: Store,
    smtp: SmtpServer,
    to_alice: MakeDestination,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = Filter.objects.create(owner=alice, name="other", text="o", phrase="o")
    to_alice("forward")
    store(other, "<one@x.org>")
    flood(store, jones)
    real_send, failing = outgoing.send, [True]

    def fail_digests(message: Any, recipient: str) -> Outcome:
        if failing[0] and b"far more than usual" in message.raw:
            return Outcome("retry", "451 later")
        return real_send(message, recipient)

    monkeypatch.setattr(outgoing, "send", fail_digests)
    for _ in range(3):
        turn_of_mail()
    failing[0] = False
    for _ in range(3):
        turn_of_mail()
    names = [message["Message-ID"] for message in smtp.messages]
    assert len(names) == 2 and names.count("<one@x.org>") == 1


@pytest.mark.usefixtures("kept_original")
def test_a_flood_whose_answer_was_lost_stays_one_though_little_of_it_is_left(
    jones: Filter,
    store: Store,
    smtp: SmtpServer,
    to_alice: MakeDestination,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    to_alice("forward")
    flood(store, jones)
    real_send = outgoing.send

    def lose_the_answer(message: Any, recipient: str) -> Outcome:
        real_send(message, recipient)
        return Outcome("retry", "The mail server broke off.")

    monkeypatch.setattr(outgoing, "send", lose_the_answer)
    turn_of_mail()
    Match.objects.exclude(msgid__in=("m1", "m2")).update(retracted_at=1)
    monkeypatch.setattr(outgoing, "send", real_send)
    for _ in range(2):
        turn_of_mail()
    first, again = smtp.messages
    assert first["Message-ID"] == again["Message-ID"]
