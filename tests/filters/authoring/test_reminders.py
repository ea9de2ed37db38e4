"""Reminders of one's own messages, unless somebody answers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils import timezone

from filters.authoring import lifecycle, reminders
from filters.authoring.models import Reminder
from filters.inbox.lists.cards import CopyKey
from filters.inbox.models import Match, MessageState
from filters.people.models import User
from filters.reading.annotations.outbox import append_outbox
from filters.reading.models import OutboxAnnotation
from filters.runs.store.filter_store import DjangoClock
from filters.upkeep.forgetting import forget
from tapestry.core.clock import DAY, to_datetime, to_instant, wall_clock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.filters.authoring.test_ready_made import answer, send
from tests.support.faults.set_asides import Planted
from tests.support.lists.live_filters import run
from tests.support.set_clock import SetClock

SignIn = Callable[[User], Client]
PLAN = "plan@example.org"
BERLIN = ZoneInfo("Europe/Berlin")

pytestmark = pytest.mark.usefixtures("engine")


@pytest.fixture
def person(tables: Tables, alice: User, as_user: SignIn) -> Client:
    send(tables, "plan", questions=0)
    return as_user(alice)


def ask(
    client: Client, tables: Tables, until: str, chosen: str = "", msgid: str = PLAN, **more: str
) -> int:
    sent = {"id": msgid, "in": "user:alice", "until": until, "chosen": chosen} | more
    status = client.post("/filters/remind/", sent).status_code
    append_outbox(tables)
    run()
    return status


def in_inbox(user: User) -> set[str]:
    return set(Match.objects.in_list(user).values_list("msgid", flat=True))


def come(user: User) -> None:
    """Let the time come until which a message is snoozed."""
    MessageState.objects.filter(owner=user).update(snoozed_until=wall_clock() - 1)


def test_a_message_with_a_reminder_comes_back_unless_somebody_answers(
    person: Client, tables: Tables, alice: User
) -> None:
    page = person.get("/message/", {"id": PLAN}).content.decode()
    assert "Remind me if nobody answers" in page and "Nothing more to come" in page
    assert ask(person, tables, "tomorrow") == 302
    page = person.get("/message/", {"id": PLAN}).content.decode()
    assert "Remind me at another time" in page and "No reminder" in page
    assert not in_inbox(alice)
    come(alice)
    assert in_inbox(alice) == {PLAN}
    answer(tables, "plan", automatic="reply")
    run()
    assert in_inbox(alice) == {PLAN}
    assert ask(person, tables, "week") == 302, "it can be repeated"
    assert not in_inbox(alice)
    send(tables, "reply", sender="bob@x.org", inreplyto=PLAN)
    run()
    come(alice)
    assert not in_inbox(alice)


def done(client: Client) -> None:
    assert client.post("/triage/do/done/", {"id:user:alice": PLAN}).status_code == 302


@pytest.mark.parametrize("end", ["answer", "never", "settled"])
def test_a_repeated_reminder_comes_back_until_its_end(
    end: str, person: Client, tables: Tables, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    User.objects.update(time_zone="Europe/Berlin")
    assert ask(person, tables, "chosen", "2030-03-29T08:00", every="3") == 302
    assert "every 3 days until somebody answers" in person.get(f"/message/?id={PLAN}").text
    for day in ("03-29", "04-01"):  # the clocks change in between
        then = to_instant(datetime.fromisoformat(f"2030-{day}T08:00").replace(tzinfo=BERLIN))
        clock = SetClock(then - 1, monkeypatch)
        assert reminders.bring_back() == 0 and not in_inbox(alice)
        clock.now = then
        assert reminders.bring_back() == (day != "03-29"), "the first is a message that was snoozed"
        assert in_inbox(alice) == {PLAN}
        assert Match.objects.get().read_at is None
        done(person)
        assert reminders.bring_back() == 0 and not in_inbox(alice)
    [row] = Reminder.objects.all()
    clock.now = row.next_at + 20 * DAY  # what was missed comes once
    if end == "answer":
        send(tables, "reply", sender="bob@x.org", inreplyto=PLAN)
        run()
    else:
        assert ask(person, tables, end) == 302
    assert reminders.bring_back() == 0 and not in_inbox(alice)
    assert not Reminder.objects.exists()


def test_a_time_that_clocks_skip_on_one_day_is_that_of_the_days_after(
    person: Client, tables: Tables, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    User.objects.update(time_zone="Europe/Berlin")
    assert ask(person, tables, "chosen", "2030-03-30T02:30", every="1") == 302
    came = []
    for _ in range(3):
        [row] = Reminder.objects.all()
        came.append(to_datetime(row.next_at).astimezone(BERLIN).strftime("%d %H:%M"))
        SetClock(row.next_at, monkeypatch)
        reminders.bring_back()
    assert came == ["31 03:30", "01 02:30", "02 02:30"]


def test_what_is_answered_early_leaves_the_snoozed(
    person: Client, tables: Tables, alice: User
) -> None:
    lifecycle.install(alice, "from al@example.com", name="mine")
    assert ask(person, tables, "tomorrow") == 302
    assert ask(person, tables, "never") == ask(person, tables, "week") == 302
    assert reminders.bring_back() == 0
    assert MessageState.objects.get().snoozed_until == Reminder.objects.get().until
    send(tables, "reply", sender="bob@x.org", inreplyto=PLAN)
    run()
    reminders.bring_back()
    assert MessageState.objects.get().snoozed_until is None
    assert not Reminder.objects.exists() and not Match.objects.filter(read_at=None)


@pytest.mark.parametrize("mode", ["keep", "live"])
def test_reminders_go_by_no_filter_of_another_meaning_that_has_their_name(
    person: Client, tables: Tables, alice: User, mode: str
) -> None:
    lifecycle.install(alice, "from zoe", title="Reminders", mode=mode)
    assert ask(person, tables, "tomorrow", every="3") == 302
    assert ask(person, tables, "week", every="3") == 302
    reminded = Match.objects.get(msgid=PLAN).filter
    assert reminded.display_name == "Reminders" and alice.filters.count() == 2
    lifecycle.change(reminded, reminded.text, name="to-come", title="To come")
    Reminder.objects.update(next_at=wall_clock() - DAY)
    reminders.bring_back()
    assert Reminder.objects.exists(), "it is repeated"
    send(tables, "reply", sender="bob@x.org", inreplyto=PLAN)
    run()
    reminders.bring_back()
    assert MessageState.objects.get().snoozed_until is None
    assert not Reminder.objects.exists()


def test_a_repeated_reminder_that_is_due_before_its_filter_has_run_is_kept(
    person: Client, tables: Tables, alice: User
) -> None:
    sent = {"id": PLAN, "in": "user:alice", "until": "tomorrow", "every": "1"}
    assert person.post("/filters/remind/", sent).status_code == 302
    Reminder.objects.update(next_at=wall_clock())
    come(alice)
    assert reminders.bring_back() == 0 and Reminder.objects.exists()
    append_outbox(tables)
    run()
    assert reminders.bring_back() == 1 and Reminder.objects.get().next_at > wall_clock()


@pytest.mark.usefixtures("person")
@pytest.mark.parametrize("every", [0, 1])
def test_an_answer_before_the_first_run_of_the_filter_ends_a_reminder(
    every: int, tables: Tables, alice: User
) -> None:
    lifecycle.install(alice, "from al@example.com", name="mine")
    run()
    reminders.remind(alice, CopyKey(PLAN, "user:alice"), wall_clock() + DAY, every)
    send(tables, "reply", sender="bob@x.org", inreplyto=PLAN)
    for _ in range(2):
        assert reminders.bring_back() == 0 and Reminder.objects.exists(), "nobody knows yet"
        append_outbox(tables)
    run()
    reminders.bring_back()
    assert not Reminder.objects.exists()
    assert MessageState.objects.get().snoozed_until is None


def test_a_reminder_follows_the_copy_that_is_seen(
    tables: Tables, alice: User, as_user: SignIn
) -> None:
    copy = {"sender": "al@example.com", "subject": "plan"}
    for audience in ("group:parc", "public"):
        append_messages(tables, DjangoClock(), [Message(PLAN, audience=audience, **copy)])
    given = {"in": "group:parc", "every": "1"}
    assert ask(as_user(alice), tables, "tomorrow", **given) == 302
    alice.groups.clear()
    run()
    Reminder.objects.update(next_at=wall_clock())
    come(alice)
    assert reminders.bring_back() == 1
    assert {Reminder.objects.get().audience, MessageState.objects.get().audience} == {"public"}


@pytest.mark.parametrize("end", ["answer", "never", "settled"])
def test_what_was_snoozed_otherwise_stays_so(
    end: str, person: Client, tables: Tables, alice: User
) -> None:
    assert ask(person, tables, "tomorrow") == 302
    given = {"id:user:alice": PLAN, "until": "chosen", "chosen": "2035-01-31T08:00"}
    assert person.post("/triage/do/snooze/", given).status_code == 302
    chosen = MessageState.objects.get().snoozed_until
    if end == "answer":
        send(tables, "reply", sender="bob@x.org", inreplyto=PLAN)
        run()
        reminders.bring_back()
    else:
        assert ask(person, tables, end) == 302
    assert MessageState.objects.get().snoozed_until == chosen and not Reminder.objects.exists()


@pytest.mark.parametrize("loss", ["left", "forgotten"])
def test_a_reminder_of_one_copy_follows_another_that_was_starred(
    loss: str, tables: Tables, alice: User, as_user: SignIn
) -> None:
    copy = {"sender": "al@example.com", "subject": "plan"}
    for audience in ("group:parc", "user:alice"):
        append_messages(tables, DjangoClock(), [Message(PLAN, audience=audience, **copy)])
    client = as_user(alice)
    ask(client, tables, "tomorrow", **{"in": "group:parc", "every": "1"})
    client.post("/triage/do/star/", {"id:user:alice": PLAN})
    if loss == "left":
        alice.groups.clear()
    else:
        forget("group:parc")
    assert Reminder.objects.get().audience == "user:alice"


def test_a_reminder_that_raises_an_error_holds_up_no_other(
    person: Client,
    tables: Tables,
    alice: User,
    monkeypatch: pytest.MonkeyPatch,
    set_asides: Planted,
) -> None:
    assert ask(person, tables, "tomorrow", every="1") == 302
    given = {"owner": alice, "audience": "user:alice", "every": 1}
    given |= {"first": 1, "until": 1, "next_at": 1, "made_at": 1}
    broken = Reminder.objects.create(msgid="other@example.org", **given)
    Match.objects.update_or_create(
        filter=alice.filters.get(), msgid=broken.msgid, audience="user:alice",
        matched_at=1, stored_at=1, shown_at=1,
    )  # fmt: skip
    clock = SetClock(Reminder.objects.latest("next_at").next_at, monkeypatch)
    assert reminders.bring_back() == 1
    assert Reminder.objects.exclude(pk=broken.pk).get().next_at > clock.now
    [(_, key, _)] = set_asides.expect()
    assert key == f"{broken.pk}/reminder"
    assert reminders.bring_back() == 0, "it waits for its next try"


@pytest.mark.parametrize("how", ["never", "settled"])
def test_a_reminder_ends_by_hand(how: str, person: Client, tables: Tables, alice: User) -> None:
    assert ask(person, tables, "tomorrow") == 302
    assert ask(person, tables, how) == 302
    assert not in_inbox(alice)
    assert MessageState.objects.get().snoozed_until is None
    page = person.get("/message/", {"id": PLAN}).content.decode()
    assert ("Nothing more to come" in page) == (how == "never")


def test_what_is_asked_for_wrongly_is_refused(person: Client, tables: Tables, alice: User) -> None:
    yesterday = timezone.localtime() - timedelta(days=1)
    assert ask(person, tables, "chosen", f"{yesterday:%Y-%m-%dT%H:%M}") == 400
    assert ask(person, tables, "chosen", "soon") == 400
    assert ask(person, tables, "tomorrow", msgid="nowhere@example.org") == 404
    assert (
        ask(person, tables, "tomorrow", every="-1") == ask(person, tables, "week", every="9") == 400
    )
    assert not alice.filters.exists()


def test_mail_of_others_has_no_reminder(mail: Tables, alice: User, as_user: SignIn) -> None:
    page = as_user(alice).get("/message/", {"id": PLAN}).content.decode()
    assert "Mary Jones" in page and "Remind me" not in page


def test_a_reminder_of_mail_that_is_seen_no_more_waits_until_it_is_seen(
    tables: Tables, alice: User, as_user: SignIn
) -> None:
    mail = Message(PLAN, audience="group:parc", sender="al@example.com", subject="plan")
    append_messages(tables, DjangoClock(), [mail])
    given = {"in": "group:parc", "every": "1"}
    assert ask(as_user(alice), tables, "tomorrow", **given) == 302
    groups = list(alice.groups.all())
    alice.groups.clear()
    run()
    assert reminders.bring_back() == 0, "it is no answer that it is seen no more"
    Reminder.objects.update(next_at=wall_clock())
    come(alice)
    assert reminders.bring_back() == 0 and not in_inbox(alice)
    OutboxAnnotation.objects.all().delete()  # as they are, some days later
    alice.groups.set(groups)
    assert reminders.bring_back() == 0 and Reminder.objects.exists(), "nobody knows yet"
    run()
    assert reminders.bring_back() == 1 and in_inbox(alice) == {PLAN}
