"""Filters that wait: a silence is not found while a source is behind whose mail they see."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.contrib.auth.models import Group

from filters.authoring import lifecycle, tasks
from filters.authoring.models import Filter, PendingWindow
from filters.inbox.complete import completeness
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs import rounds
from filters.runs.models import Clock, CompleteUpTo
from filters.runs.store.filter_store import DjangoClock
from filters.sources.models import Source
from tapestry.core.clock import HOUR, MINUTE, wall_clock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages

SILENT = (
    "m.sender = 'ann@example.org' AND m.received < now() - 1 hour"
    " AND NOT EXISTS (r: r.inreplyto = m.msgid)"
)
WAIT = Filter.Mode.WAIT

pytestmark = pytest.mark.usefixtures("engine")


def source_of(owner: User, complete_until: int | None, audience: str = "") -> Source:
    return Source.objects.create(
        owner=owner, kind=Source.Kind.IMAP, host="mail.example.org", port=993, active=True,
        audience=audience or f"user:{owner.get_username()}", complete_until=complete_until,
        due_at=wall_clock() + HOUR,
    )  # fmt: skip


def ask(tables: Tables, name: str, at: int) -> None:
    """Append a question that was received at an instant."""
    append(tables, Message(f"{name}@example.org", sender="ann@example.org", received=at))


def answer(tables: Tables, name: str) -> None:
    append(tables, Message(f"re-{name}@example.org", inreplyto=f"{name}@example.org"))


def append(tables: Tables, message: Message) -> None:
    append_messages(tables, DjangoClock(), [replace(message, audience="user:alice")])


def found(filter_: Filter) -> dict[str, int]:
    rows = Match.objects.filter(filter=filter_).values_list("msgid", "matched_at")
    return {msgid.partition("@")[0]: at for msgid, at in rows}


@pytest.mark.parametrize("existing", [True, False])
def test_what_is_answered_on_a_server_that_is_away_is_not_found(
    tables: Tables, alice: User, bob: User, existing: bool
) -> None:
    now = wall_clock()
    mailbox = source_of(alice, now)
    source_of(bob, None)
    waiting = lifecycle.install(alice, SILENT, name="w", mode=WAIT, existing=existing)
    kept = lifecycle.install(alice, SILENT, name="k", existing=existing)
    ask(tables, "answered", now)
    ask(tables, "open", now)
    rounds.run_round()
    rounds.run_round(now + 2 * HOUR)
    assert found(kept).keys() == {"answered", "open"}
    assert found(waiting) == {}, "of the last two hours nothing is known"
    answer(tables, "answered")
    Source.objects.filter(pk=mailbox.pk).update(complete_until=now + 2 * HOUR)
    rounds.run_round(now + 3 * HOUR)
    assert found(waiting).keys() == {"open"}
    (back,) = CompleteUpTo.objects.filter(upto=now + 2 * HOUR).values_list("ts", flat=True)
    assert found(waiting) == {"open": back}, "it matched as the source was back"
    rounds.run_round(now + 4 * HOUR)
    assert list(CompleteUpTo.objects.values_list("ts", flat=True)) == [back], "none begins before"


def test_a_source_that_is_paused_holds_no_filter_back(tables: Tables, alice: User) -> None:
    now = wall_clock()
    mailbox = source_of(alice, None)
    waiting = lifecycle.install(alice, SILENT, name="w", mode=WAIT)
    ask(tables, "open", now)
    rounds.run_round()
    rounds.run_round(now + 2 * HOUR)
    assert found(waiting) == {}, "a mailbox that was never read to its end"
    Source.objects.filter(pk=mailbox.pk).update(active=False)
    rounds.run_round(now + 3 * HOUR)
    assert found(waiting).keys() == {"open"}
    Source.objects.filter(pk=mailbox.pk).update(active=True)
    ask(tables, "later", now + 3 * HOUR)
    rounds.run_round(now + 5 * HOUR)
    assert found(waiting).keys() == {"open"}, "it is on again, and behind"
    mailbox.delete()
    rounds.run_round(now + 6 * HOUR)
    assert found(waiting).keys() == {"open", "later"}


def test_a_text_that_waited_does_so_to_its_end_whenever_that_is_run(
    tables: Tables, alice: User
) -> None:
    now = wall_clock()
    source_of(alice, now)
    waiting = lifecycle.install(alice, SILENT, name="w", mode=WAIT)
    ask(tables, "open", now)
    rounds.run_round()
    Clock.objects.update(last=now + 2 * HOUR)
    lifecycle.change(waiting, "m.sender = 'bob@example.org'", mode=Filter.Mode.KEEP)
    rounds.run_round(now + 3 * HOUR)
    assert found(waiting) == {} and not PendingWindow.objects.exists()
    rounds.run_round(now + 4 * HOUR)
    assert not CompleteUpTo.objects.exists()


@pytest.mark.parametrize("is_own", [True, False])
def test_what_is_waited_for_as_a_filter_changes_is_found_later(
    tables: Tables, alice: User, bob: User, is_own: bool
) -> None:
    now = wall_clock()
    mailbox = source_of(alice, now)
    his = lifecycle.install(bob, "m.msgid <> 'x'", name="his", visibility="shared")
    text = f"{SILENT} AND m IN bob.his"
    made = lifecycle.install(alice, text, name="w", mode=WAIT, existing=False)
    ask(tables, "open", now)
    rounds.run_round()
    rounds.run_round(now + 2 * HOUR)
    if is_own:
        lifecycle.change(made, f"{text} AND m.msgid <> 'y'")
    else:
        lifecycle.change(his, "m.msgid <> 'y'")
    ask(tables, "later", now)
    rounds.run_round(now + 3 * HOUR)
    assert found(made) == {}
    Group.objects.create(name="all").user_set.add(alice)  # it begins again
    Source.objects.filter(pk=mailbox.pk).update(complete_until=now + 3 * HOUR)
    rounds.run_round(now + 4 * HOUR)
    rounds.run_round(now + 5 * HOUR)
    assert found(made).keys() == {"open", "later"}


def test_a_preview_and_a_dry_run_wait_as_the_filter_would(tables: Tables, alice: User) -> None:
    now = wall_clock()
    ask(tables, "open", now - 2 * HOUR)
    for complete_until, found in ((now - 90 * MINUTE, 0), (now, 1)):
        Source.objects.all().delete()
        source_of(alice, complete_until)
        assert tasks.preview_for(alice, SILENT, WAIT)["count"] == found
        assert tasks.backtest_for(alice, SILENT, WAIT, 4)["count"] == found
        assert tasks.preview_for(alice, SILENT)["count"] == 1


def test_nothing_is_recorded_where_no_filter_waits(tables: Tables, alice: User) -> None:
    source_of(alice, wall_clock())
    rounds.run_round()
    assert not CompleteUpTo.objects.exists()
    made = lifecycle.install(alice, SILENT, name="w", mode=WAIT)
    rounds.run_round()
    assert CompleteUpTo.objects.exists()
    lifecycle.change(made, SILENT, mode=Filter.Mode.KEEP)
    rounds.run_round()
    rounds.run_round()
    made.refresh_from_db()
    assert not CompleteUpTo.objects.exists() and made.waits_from is None


def test_the_page_says_up_to_when_the_clock_of_a_filter_has_come(
    tables: Tables, alice: User, bob: User
) -> None:
    source_of(alice, wall_clock() - 3 * HOUR - MINUTE)
    made = lifecycle.install(alice, SILENT, name="w", mode=WAIT)
    rounds.run_round()
    made.refresh_from_db()
    said = completeness(made)
    assert said.until == made.clock < wall_clock() - 3 * HOUR
    assert said.waits_for == ("mail.example.org is 3 hours behind.",)
