"""A round: what was said is appended, what is due is run, lists get their cards."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db.models import F
from django.test import Client

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.inbox.lists import listing
from filters.inbox.lists.rows import rows_of
from filters.inbox.models import Match
from filters.people.models import User
from filters.reading.annotations.outbox import annotate
from filters.reading.models import OutboxAnnotation
from filters.runs import rounds
from filters.runs import tasks as upkeep_tasks
from filters.runs.models import Heartbeat, SetAside
from filters.runs.store.filter_store import DjangoClock, DjangoFilterStore, latest_instant
from filters.site.work import set_aside
from filters.site.work.parts import services
from tapestry.core.clock import BEGINNING
from tapestry.core.errors import TapestryError
from tapestry.core.files.site_lock import site_lock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.faults.set_asides import Planted
from tests.support.lists.live_filters import unfold

pytestmark = pytest.mark.usefixtures("engine")

VOTED = "EXISTS (a IN annotations: a.msgid = m.msgid AND a.kind = 'vote' AND a.owner = '{}')"


def found(user: User) -> list[tuple[str, str]]:
    return list(
        Match.objects.visible_to(user).order_by("msgid").values_list("filter__name", "msgid")
    )


def why(user: User) -> dict[str, str]:
    """Return the reason in each line of the inbox, without its day."""
    unfold()
    rows = rows_of(user, list(listing.cards(user)))
    return {row.card.msgid: re.sub(r" on \d+ \w+$", "", row.explanation) for row in rows}


def test_what_matches_is_found_once(mail: Tables, carol: User) -> None:
    lifecycle.install(carol, "replies by Smith", name="smith")
    assert len(rounds.run_round().matches) == 1
    assert found(carol) == [("smith", "reply@example.org")]
    assert rounds.run_round().matches == ()


def test_a_filter_finds_what_comes_later(mail: Tables, carol: User) -> None:
    lifecycle.install(carol, "replied to by Smith", name="asked")
    rounds.run_round()
    new = Message(
        "again@example.org",
        sender="bill@example.org",
        sender_name="Bill Smith",
        inreplyto="reply@example.org",
    )
    append_messages(mail, DjangoClock(), [new])
    assert {match.msgid for match in rounds.run_round().matches} == {"reply@example.org"}


def test_from_now_on_leaves_out_what_matched_before(mail: Tables, carol: User) -> None:
    made = lifecycle.install(carol, "from Jones", existing=False)
    assert made.start is not None and made.since == made.start
    rounds.run_round()
    assert found(carol) == []
    append_messages(mail, DjangoClock(), [Message("new@example.org", sender="jones@example.org")])
    rounds.run_round()
    assert found(carol) == [("from-jones", "new@example.org")]


@pytest.mark.parametrize(
    ("who", "expected"),
    [
        ("alice", ["parc@example.org", "plan@example.org", "secret@example.org"]),
        ("bob", ["parc@example.org", "plan@example.org"]),
        ("carol", ["plan@example.org"]),
    ],
)
def test_each_finds_what_they_may_see(
    mail: Tables, alice: User, bob: User, carol: User, who: str, expected: list[str]
) -> None:
    for user in (alice, bob, carol):
        lifecycle.install(user, "from mary@example.org", name="mary")
    rounds.run_round()
    users = {"alice": alice, "bob": bob, "carol": carol}
    assert [msgid for _, msgid in found(users[who])] == expected


def test_a_private_reply_is_no_reply_to_those_who_cannot_see_it(
    mail: Tables, alice: User, bob: User
) -> None:
    for user in (alice, bob):
        lifecycle.install(user, "replied to by mary@example.org", name="mary")
    rounds.run_round()
    assert found(alice) == [("mary", "plan@example.org")]
    assert found(bob) == []


def test_a_vote_in_the_page_reaches_the_filters_of_others(
    mail: Tables, bob: User, carol: User, as_user: Callable[[User], Client]
) -> None:
    lifecycle.install(carol, VOTED.format("bob"), name="bobs")
    rounds.run_round()
    assert found(carol) == []
    as_user(bob).post(
        "/message/annotate/", {"id": "reply@example.org", "kind": "vote", "number": "1"}
    )
    rounds.run_round()
    assert found(carol) == [("bobs", "reply@example.org")]
    assert why(carol) == {"reply@example.org": "bob voted for it"}


def test_a_private_vote_reaches_nobody_else(mail: Tables, bob: User, carol: User) -> None:
    for user in (bob, carol):
        lifecycle.install(user, VOTED.format("bob"), name="bobs")
    annotate(bob, "plan@example.org", "public", "vote", number=1, private=True)
    rounds.run_round()
    assert found(bob) == [("bobs", "plan@example.org")]
    assert found(carol) == []


def test_it_says_why_a_message_is_here(mail: Tables, carol: User) -> None:
    lifecycle.install(carol, "replied to by Smith", name="asked")
    lifecycle.install(carol, "replies to Jones", name="answers")
    rounds.run_round()
    assert why(carol) == {
        "plan@example.org": "Bill Smith replied",
        "reply@example.org": "in reply to Mary Jones",
    }


def test_a_reason_goes_with_its_audience(mail: Tables, alice: User) -> None:
    lifecycle.install(alice, "replied to by mary@example.org", name="mary")
    rounds.run_round()
    assert why(alice) == {"plan@example.org": "mary@example.org replied"}
    Match.objects.update(
        evidence_rows=[dict(Match.objects.get().evidence_rows[0], audience="group:gone")]
    )
    assert why(alice) == {"plan@example.org": ""}


def test_cards_that_a_killed_round_left_out_come_with_the_next(mail: Tables, carol: User) -> None:
    lifecycle.install(carol, "replies by Smith")
    rounds.run_round()
    Match.objects.update(card=None)
    assert found(carol) == []
    rounds.run_round()
    assert len(found(carol)) == 1


def test_another_text_starts_a_filter_again_and_delivers_nothing_twice(
    mail: Tables, carol: User
) -> None:
    made = lifecycle.install(carol, "replies by Smith", name="f")
    rounds.run_round()
    lifecycle.change(made, "about plan", existing=True)
    assert (made.since, made.start) == (BEGINNING, None)
    rounds.run_round()
    assert found(carol) == [("f", "plan@example.org"), ("f", "reply@example.org")]


def test_one_filter_that_is_changed_meanwhile_costs_no_other_its_window(
    mail: Tables, bob: User, carol: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    lifecycle.install(carol, "replies by Smith", name="smith")
    changed = lifecycle.install(bob, "from Jones", name="jones")
    Filter.objects.update(proven=True)
    commit = DjangoFilterStore.commit

    def commit_after(store: DjangoFilterStore, *given: Any) -> bool:
        Filter.objects.filter(pk=changed.pk).update(revision=F("revision") + 1)
        return commit(store, *given)

    monkeypatch.setattr(DjangoFilterStore, "commit", commit_after)
    rounds.run_round()
    assert found(carol) == [("smith", "reply@example.org")] and found(bob) == []


def test_a_filter_that_compiles_no_more_says_so_and_the_others_go_on(
    mail: Tables, carol: User, set_asides: Planted
) -> None:
    set_asides.expect()
    lifecycle.install(carol, "replies by Smith", name="good")
    broken = lifecycle.install(carol, "about plan", name="broken")
    Filter.objects.filter(pk=broken.pk).update(tql="about about about")
    report = rounds.run_round()
    assert report.failed == 1
    broken.refresh_from_db()
    assert broken.error
    assert ("good", "reply@example.org") in found(carol)


def test_a_filter_that_an_older_version_cannot_read_is_run_by_a_newer(
    mail: Tables, carol: User, monkeypatch: pytest.MonkeyPatch, set_asides: Planted
) -> None:
    set_asides.expect()
    made = lifecycle.install(carol, "about plan", name="plan")
    Filter.objects.update(tql="about the newest word )")
    rounds.run_round()
    broken = Filter.objects.get()
    assert broken.error.startswith("Its text does not compile.")
    assert "newest" not in SetAside.objects.get().traceback
    Filter.objects.update(tql=made.tql)
    assert rounds.run_round().matches == ()
    monkeypatch.setattr(set_aside, "program_version", lambda: "newer")
    assert rounds.run_round().matches
    assert Filter.objects.get().error == ""
    assert not SetAside.objects.exists()


def test_it_writes_down_how_it_went(
    mail: Tables, carol: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds.run_round()
    pulse = Heartbeat.objects.get()
    assert pulse.error == "" and 0 < pulse.started_at <= pulse.ended_at

    def no_engine(snapshot: object) -> None:
        raise TapestryError("Spark cannot be reached.")

    monkeypatch.setattr("filters.site.work.parts.services.engine_on", no_engine)
    lifecycle.install(carol, "about plan")
    with pytest.raises(TapestryError):
        rounds.run_round()
    assert Heartbeat.objects.get().error == "Spark cannot be reached."


def test_what_waits_is_appended_even_when_spark_is_away(
    mail: Tables, carol: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_engine(snapshot: object) -> None:
        raise TapestryError("Spark cannot be reached.")

    monkeypatch.setattr("filters.site.work.parts.services.engine_on", no_engine)
    annotate(carol, "plan@example.org", "public", "tag", value="x")
    lifecycle.install(carol, "about plan")
    with pytest.raises(TapestryError):
        rounds.run_round()
    assert OutboxAnnotation.objects.get().appended_at is not None


def test_upkeep_is_done_by_one_task_at_a_time(
    mail: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    monkeypatch.setattr(upkeep_tasks.set_aside, "each", lambda kind, _works: done.append(kind))
    with site_lock(services.data() / "run" / "upkeep.lock"):
        upkeep_tasks.compact()
    assert done == [], "that one may be waiting for a backup"
    upkeep_tasks.compact()
    assert done == ["step"]


def test_a_run_at_an_instant_to_come_runs_up_to_it(mail: Tables, carol: User) -> None:
    later = latest_instant() + 1_000_000
    assert rounds.run_round(later).until == later


class TestTheOnlyRound:
    def test_a_second_is_told_no(self) -> None:
        assert not rounds.is_running(rounds.SHARED)
        with rounds.lane(rounds.SHARED) as first:
            assert first
            assert rounds.is_running(rounds.SHARED)
            with rounds.lane(rounds.SHARED) as second:
                assert not second
        with rounds.lane(rounds.SHARED) as third:
            assert third
