"""`manage.py wait`: mail has reached every delivery, or it is said what is still to come."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.compose.arrival import NoSuchTokenError, StoppedError, remaining_of
from filters.compose.models import OutgoingMessage
from filters.delivery.models import Destination
from filters.delivery.reached import Remaining, remaining
from filters.inbox.models import Match
from filters.people.models import User
from filters.reading.annotations.outbox import annotate, append_outbox
from filters.reading.models import OutboxAnnotation
from filters.runs import rounds
from filters.runs.store.release import release
from filters.site.work.crypto import arrival_tokens
from filters.sources.models import Source
from tapestry.core.clock import BEGINNING, HOUR, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.deliver.batch import Outcome
from tapestry.tables.delta.log import Tables, newest_instant
from tests.support.delivery.recorded_way import Recorder, Store
from tests.support.delivery.turn import turn


@pytest.mark.usefixtures("engine")
def test_each_step_of_mail_is_waited_for_until_it_was_sent(
    mail: Tables, alice: User, hook: Destination, way: Recorder, capsys: pytest.CaptureFixture[str]
) -> None:
    newest = newest_instant(mail)
    call_command("wait")
    assert "Complete up to 20" in capsys.readouterr().out, "there is no filter"
    lifecycle.install(alice, "about plan", name="f")
    assert "1 filter that runs by itself is not there yet." in remaining(newest).now
    with pytest.raises(TapestryError, match=r"has not come everywhere: .* not there yet"):
        call_command("wait", timeout=0.0)
    rounds.run_round()
    assert not any("not there yet" in sentence for sentence in remaining(newest).now)
    release()
    assert remaining(newest).now == ("1 delivery is under way.",)
    way.outcome = Outcome("retry", "The server is busy.")
    turn()
    assert remaining(newest).now == ()
    call_command("wait")
    assert "1 delivery comes later, the first at " in capsys.readouterr().out
    way.outcome = Outcome("delivered")
    Destination.objects.update(due_at=wall_clock())
    turn()
    assert remaining(newest) == Remaining((), ())
    assert way.delivered


@pytest.mark.usefixtures("engine")
def test_a_vote_that_waits_in_the_outbox_is_waited_for_as_mail_is(
    mail: Tables, alice: User, capsys: pytest.CaptureFixture[str]
) -> None:
    lifecycle.install(alice, "voted for by mary", name="f")
    rounds.run_round()
    release()
    vote = annotate(alice, "plan@example.org", "public", "vote", number=1.0)
    token = arrival_tokens.of_annotation(vote.pk)
    said = ("1 vote or note is being stored.",)
    assert remaining(newest_instant(mail), votes_until=wall_clock()).now == said
    assert remaining_of(token).now == ("What was said of a message is being stored.",)
    with pytest.raises(TapestryError, match="being stored"):
        call_command("wait", timeout=0.0)
    before = newest_instant(mail)
    append_outbox(mail)
    vote.refresh_from_db()
    assert vote.appended_at == newest_instant(mail) > before
    assert "run" in remaining(before, votes_until=wall_clock()).now[0], "though of another instant"
    with pytest.raises(TapestryError, match=r"^What the token is of has not come everywhere"):
        call_command("wait", token, timeout=0.0)
    rounds.run_round()
    release()
    call_command("wait", token)
    assert "Complete." in capsys.readouterr().out
    with pytest.raises(CommandError, match="month must be"):
        call_command("wait", "2026-13-01")
    for wrong in (
        "t",
        "tforged",
        "yesterday",
        token[:-2],
        f"{token}é",
        arrival_tokens.of_letter(9),
    ):
        with pytest.raises(TapestryError, match="nothing that this token is of"):
            call_command("wait", wrong)


@pytest.mark.usefixtures("engine")
def test_a_person_is_told_of_their_own_filters_and_deliveries_alone(
    mail: Tables, alice: User, bob: User, carol: User, hook: Destination
) -> None:
    """Each sees of the same token what is theirs, whatever others have; and of others' none."""
    token = arrival_tokens.of_mail(newest_instant(mail))
    lifecycle.install(alice, "about plan", name="f")
    annotate(alice, "plan@example.org", "public", "vote", number=1.0)
    assert remaining_of(token, alice).now and remaining_of(token).now
    assert remaining_of(token, bob) == Remaining((), ())
    rounds.run_round()
    Destination.objects.update(due_at=0, latest=F("cursor") + 1)
    assert remaining_of(token, hook.owner).now and remaining_of(token, carol) == Remaining((), ())
    source = Source.objects.create(owner=alice, kind="nntp", host="x", port=119, audience="public")
    letter = OutgoingMessage.objects.create(owner=alice, changed_at=1)
    vote = OutboxAnnotation.objects.get()
    for of_row in (
        arrival_tokens.of_pull(source.pk, 7),
        arrival_tokens.of_letter(letter.pk),
        arrival_tokens.of_annotation(vote.pk),
    ):
        with pytest.raises(NoSuchTokenError):
            remaining_of(of_row, bob)
        assert str(wall_clock())[:6] not in of_row


def test_what_a_source_or_a_letter_brings_is_waited_for_until_it_is_here(
    mail: Tables, alice: User
) -> None:
    source = Source.objects.create(owner=alice, kind="nntp", host="x", port=119, audience="public")
    asked = wall_clock()
    token = arrival_tokens.of_pull(source.pk, asked)
    with pytest.raises(StoppedError, match="paused"):
        remaining_of(token, alice)
    Source.objects.update(active=True, complete_until=asked - 1)
    assert remaining_of(token, alice).now == ("The source is being read.",)
    Source.objects.update(complete_until=asked, appended_until=newest_instant(mail))
    assert remaining_of(token, alice).now == ()
    letter = OutgoingMessage.objects.create(owner=alice, changed_at=1, state="queued", due_at=1)
    token = arrival_tokens.of_letter(letter.pk)
    assert remaining_of(token, alice).now == ("The message is being sent.",)
    OutgoingMessage.objects.update(stored_at=newest_instant(mail))
    assert remaining_of(token, alice).now == ()
    OutgoingMessage.objects.update(stored_at=None, state="refused")
    with pytest.raises(StoppedError, match="was not sent"):
        remaining_of(token, alice)


@pytest.mark.usefixtures("engine")
def test_what_was_turned_off_is_not_waited_for_and_what_is_timed_is_named(
    mail: Tables, alice: User
) -> None:
    made = lifecycle.install(alice, "about plan", name="f", timeliness="daily at 08:00")
    Filter.objects.filter(pk=made.pk).update(since=BEGINNING, active=False)
    assert remaining(wall_clock()).now == ()
    Filter.objects.update(active=True)
    rounds.run_round()
    assert remaining(wall_clock() - HOUR).now == ()
    assert any("shown later" in sentence for sentence in remaining(wall_clock()).later)


def test_what_has_left_a_live_filter_is_waited_for_until_it_is_told(
    mail: Tables, alice: User, jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    Filter.objects.update(since=newest_instant(mail))
    match = store(jones, "one")
    turn()
    assert remaining(newest_instant(mail)) == Remaining((), ())
    Match.objects.filter(pk=match.pk).update(retracted_at=wall_clock(), sequence=None)
    assert remaining(newest_instant(mail)).now == ("1 match is being listed.",)
    turn()
    assert way.delivered == [("insert", "one"), ("delete", "one")]
    assert remaining(newest_instant(mail)) == Remaining((), ())
