"""Letters that are sent later: when, in whose zone, and what may be changed until then."""

from __future__ import annotations

from datetime import datetime
from email.utils import parsedate_to_datetime

import pytest
from django.test import Client

from filters.authoring.models import Reminder
from filters.compose import tasks
from filters.compose.models import OutgoingMessage
from filters.compose.sending import outbox
from filters.inbox.models import MessageState
from filters.people.models import User
from tapestry.core.clock import DAY, HOUR, SECOND, to_datetime, to_instant
from tests.support.delivery.composed import typed
from tests.support.servers.smtp import SmtpServer
from tests.support.set_clock import SetClock

FRIDAY = to_instant(datetime.fromisoformat("2026-03-27T12:00+01:00"))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SetClock:
    return SetClock(FRIDAY, monkeypatch)


@pytest.fixture
def berlin(writer: User) -> User:
    User.objects.filter(pk=writer.pk).update(time_zone="Europe/Berlin")
    return writer


def later(browser: Client, chosen: str, **other: str) -> OutgoingMessage:
    answered = browser.post("/compose/", typed(do="later:chosen", chosen=chosen, **other))
    assert answered.status_code == 302, answered.content.decode()
    return OutgoingMessage.objects.latest("pk")


@pytest.mark.parametrize(
    ("chosen", "instant"),
    [
        ("2026-03-28T08:00", "2026-03-28T08:00+01:00"),
        ("2026-03-29T02:30", "2026-03-29T03:30+02:00"),  # there is no such time
        ("2026-10-25T02:30", "2026-10-25T02:30+02:00"),  # there are two
    ],
)
def test_the_time_is_that_of_the_writer_whose_clocks_may_change(
    browser: Client, berlin: User, clock: SetClock, smtp: SmtpServer, chosen: str, instant: str
) -> None:
    row = later(browser, chosen)
    then = datetime.fromisoformat(instant)
    assert row.due_at == row.send_at == to_instant(then)
    page = browser.get(row.get_absolute_url()).content.decode()
    assert f"It will be sent at {then:%H:%M} on " in page or "sent at 08:00 tomorrow" in page
    assert "every 1s" not in page and f'value="{then:%Y-%m-%dT%H:%M}"' in page
    assert "To be sent later" in browser.get("/drafts/").content.decode()
    clock.now = row.send_at - 1
    tasks.send_outbox()
    assert outbox.due() == [] and not outbox.send(row.pk)
    clock.now += 1
    assert outbox.due() == [row.pk] and outbox.send(row.pk) and not outbox.send(row.pk)
    (message,) = smtp.messages
    assert parsedate_to_datetime(message["Date"]) == then


def test_it_can_be_put_off_sent_now_or_taken_back(
    browser: Client, berlin: User, clock: SetClock, smtp: SmtpServer
) -> None:
    row = later(browser, "2026-03-28T08:00")
    url = f"{row.get_absolute_url()}later/"
    browser.post(url, {"do": "later:week"})
    row.refresh_from_db()
    assert to_datetime(row.due_at).isoformat() == "2026-03-30T06:00:00+00:00"
    assert b"Mon, 30 Mar 2026 08:00:00 +0200" in bytes(row.raw)
    browser.post(url, {"do": "send"})
    row.refresh_from_db()
    assert (row.due_at, row.send_at) == (FRIDAY + 10 * SECOND, None)
    assert "sent at" not in browser.get(row.get_absolute_url()).content.decode()
    late = browser.post(url, {"do": "later:week"}, follow=True).content.decode()
    assert "It is too late" in late
    row = later(browser, "2026-03-28T08:00", to="joe@x.org")
    browser.post(f"{row.get_absolute_url()}undo/")
    row.refresh_from_db()
    assert (row.state, row.due_at) == ("draft", None)
    assert 'value="2026-03-28T08:00"' in browser.get(row.get_absolute_url()).content.decode()


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ("", "Choose a day and a time."),
        ("soon", "Choose a day and a time."),
        ("2026-03-27T11:59", "That time has passed."),
        ("2046-03-27T11:59", "more than ten years away"),
    ],
)
def test_a_time_that_cannot_be_is_said_and_the_draft_stays(
    browser: Client, berlin: User, clock: SetClock, chosen: str, words: str
) -> None:
    page = browser.post("/compose/", typed(do="later:chosen", chosen=chosen))
    assert page.status_code == 400 and words in page.content.decode()
    assert OutgoingMessage.objects.get().is_draft


def test_what_cannot_be_sealed_anew_waits_as_before(
    browser: Client, berlin: User, clock: SetClock
) -> None:
    row = later(browser, "2026-03-28T08:00")
    berlin.mail_addresses.update(confirmed_at=None)
    page = browser.post(f"{row.get_absolute_url()}later/", {"do": "later:week"}, follow=True)
    assert "addresses that you have confirmed" in page.content.decode()
    again = OutgoingMessage.objects.get()
    assert (again.state, again.due_at, again.raw) == ("queued", row.due_at, row.raw)


def test_its_writer_is_reminded_unless_somebody_answers(
    browser: Client, berlin: User, clock: SetClock, smtp: SmtpServer
) -> None:
    asked = {"remind": "chosen", "remind_by": "2026-03-30T09:00", "remind_every": "7"}
    early = browser.post("/compose/", typed(do="later:chosen", chosen="2026-03-30T09:30", **asked))
    assert "reminded of the message before it is sent" in early.text and early.status_code == 400
    bad = browser.post("/compose/", typed(do="send", **asked | {"remind_by": "soon"}))
    assert "Choose a day and a time." in bad.text and bad.status_code == 400
    row = later(browser, "2026-03-28T08:00", **asked)
    clock.now = row.send_at
    assert outbox.send(row.pk)
    page = browser.get(row.get_absolute_url()).text
    assert "Remind me at another time" in page and "each week until somebody answers" in page
    then = to_instant(datetime.fromisoformat("2026-03-30T09:00+02:00"))
    [state] = MessageState.objects.filter(owner=berlin)
    assert (state.msgid, state.snoozed_until) == (row.message_id, then)
    [reminder] = Reminder.objects.all()
    assert (reminder.msgid, reminder.next_at) == (row.message_id, then + 7 * DAY)


def test_an_address_that_is_another_s_by_then_sends_nothing(
    browser: Client, berlin: User, clock: SetClock, smtp: SmtpServer
) -> None:
    row = later(browser, "2026-03-28T08:00")
    berlin.mail_addresses.update(confirmed_at=None)
    clock.now += DAY
    assert outbox.send(row.pk) and smtp.taken == []
    row.refresh_from_db()
    assert row.state == "refused" and "addresses that you have confirmed" in row.error


def test_what_was_due_since_a_backup_is_not_sent_again_unasked(
    browser: Client, berlin: User, clock: SetClock, smtp: SmtpServer
) -> None:
    first, second = later(browser, "2026-03-28T08:00"), later(browser, "2026-03-29T08:00")
    clock.now += DAY
    assert outbox.hold_restored() == 1 and outbox.due() == []
    page = browser.get(first.get_absolute_url()).content.decode()
    assert "This may have been sent" in page and "backup of this site was restored" in page
    browser.post(f"{first.get_absolute_url()}again/")
    clock.now += DAY
    assert outbox.due() == [first.pk, second.pk]


@pytest.mark.parametrize("done", ["sent_at", "posted_at"])
def test_a_letter_partly_sent_before_a_backup_is_not_sent_on_after_its_restore(
    done: str, browser: Client, clock: SetClock, smtp: SmtpServer
) -> None:
    row = later(browser, "2026-03-28T08:00")
    clock.now += DAY  # some had it, and others did not as the backup was made
    OutgoingMessage.objects.update(**{done: clock.now, "send_at": None})
    assert outbox.hold_restored() == 1
    for key in outbox.due():
        outbox.send(key)
    row.refresh_from_db()
    assert smtp.taken == [] and row.state == "sent" and row.stored_at and not row.due_at
    assert "backup of this site was restored" in browser.get(row.get_absolute_url()).text
    browser.post(f"{row.get_absolute_url()}again/")
    outbox.send(row.pk)
    assert len(smtp.taken) == 1


def test_a_person_may_have_so_many_that_wait(
    browser: Client, berlin: User, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "MOST_SCHEDULED", 1)
    later(browser, "2026-03-28T08:00")
    page = browser.post("/compose/", typed(do="later:week"))
    assert page.status_code == 400 and "1 messages of yours wait" in page.content.decode()
    clock.now += 21 * HOUR
    assert browser.post("/compose/", typed(do="later:week")).status_code == 302
