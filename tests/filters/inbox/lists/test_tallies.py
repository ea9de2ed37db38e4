"""Why a message is here: who voted or replied, and when, for those who may know."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from filters.authoring import lifecycle
from filters.inbox.lists import listing
from filters.inbox.lists.cards import refresh_cards
from filters.inbox.lists.rows import rows_of
from filters.inbox.lists.sentences import sentences
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs import rounds
from filters.runs.store.filter_store import DjangoClock
from filters.upkeep.forgetting import forget
from tapestry.core.clock import DAY, HOUR, to_instant, wall_clock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.lists.live_filters import arrive, vote

pytestmark = pytest.mark.usefixtures("engine")

MORE_THAN_ONE = "voted for by more than one person"


def why(user: User, name: str = "f") -> dict[str, str]:
    """Return the reason in each line of a filter's list, by the name of its message."""
    made = user.filters.get(name=name)
    shown = rows_of(user, list(listing.cards(user, made)), made)
    return {row.card.msgid.partition("@")[0]: row.explanation for row in shown}


def today() -> str:
    now = datetime.now(UTC)
    return f"on {now.day} {now:%B}"


def test_the_voters_are_named_and_the_many_counted(tables: Tables, carol: User) -> None:
    arrive(tables, "few")
    arrive(tables, "many")
    lifecycle.install(carol, MORE_THAN_ONE, name="f")
    lifecycle.install(carol, "voted for by more than five people", name="loved")
    for name in ("terry", "mary"):
        vote(tables, name, "few")
    for name in ("terry", "mary", "bill", "jo", "ann", "zoe"):
        vote(tables, name, "many")
    vote(tables, "max", "many", -1.0)
    rounds.run_round()
    two = f"terry and mary voted for it, the last {today()}"
    assert why(carol) == {"few": two, "many": two}, "when it matched they were two"
    assert why(carol, "loved") == {
        "many": f"terry, mary and 4 others voted for it, the last {today()}"
    }


def test_they_are_those_of_the_instant_of_the_match(tables: Tables, carol: User) -> None:
    arrive(tables, "plan")
    lifecycle.install(carol, MORE_THAN_ONE, name="f")
    vote(tables, "terry", "plan")
    vote(tables, "mary", "plan")
    rounds.run_round()
    before = why(carol)
    assert before == {"plan": f"terry and mary voted for it, the last {today()}"}
    vote(tables, "zoe", "plan")
    Match.objects.update(refreshed_at=None)
    rounds.run_round()
    assert why(carol) == before


def test_a_score_names_both_sides(tables: Tables, carol: User) -> None:
    arrive(tables, "plan")
    vote(tables, "max", "plan", -1.0)
    for name in ("terry", "mary", "bill"):
        vote(tables, name, "plan")
    lifecycle.install(carol, "with a score above 1", name="f")
    lifecycle.install(carol, "among the top 1 by votes this week", name="top")
    rounds.run_round()
    assert why(carol, "top")["plan"] == f"max voted against it {today()}"
    assert why(carol)["plan"] == (
        f"max voted against it {today()}; terry, mary and bill voted for it, the last {today()}"
    )


def test_the_repliers_are_named(tables: Tables, carol: User) -> None:
    arrive(tables, "plan")
    lifecycle.install(carol, "with more than 2 replies", name="f")
    for number, (sender, name) in enumerate([("a@x", "Ann"), ("b@x", None), ("a@x", "Ann")]):
        reply = Message(
            f"r{number}@x", sender=sender, sender_name=name, inreplyto="plan@example.org"
        )
        append_messages(tables, DjangoClock(), [reply])
    rounds.run_round()
    assert why(carol) == {"plan": f"3 replies by Ann and b@x, the last {today()}"}


@pytest.mark.parametrize("text", ["two weeks old with no reply", "with no reply for two weeks"])
def test_no_reply_says_in_which_days(tables: Tables, carol: User, text: str) -> None:
    received = wall_clock() - 14 * DAY - HOUR
    old = Message("old@example.org", subject="old", received=received)
    append_messages(tables, DjangoClock(), [old], now=lambda: received + 1)
    lifecycle.install(carol, text, name="f")
    rounds.run_round()
    [row] = Match.objects.get().evidence_rows
    assert (row["what"], row["audience"]) == ("no reply", "public")
    assert 0 <= row["from"] - received <= 1 and 0 <= row["at"] - received - 14 * DAY <= 1


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        ((2004, 3, 1), (2004, 3, 15), "no reply between 1 and 15 March 2004"),
        ((2004, 3, 1), (2004, 4, 2), "no reply between 1 March and 2 April 2004"),
        ((2004, 3, 1), (2005, 1, 2), "no reply between 1 March 2004 and 2 January 2005"),
        ((2004, 3, 1), (2004, 3, 1, 14, 3), "no reply as of 14:03 on 1 March 2004"),
    ],
)
def test_two_days_in_words(first: tuple[int, ...], last: tuple[int, ...], words: str) -> None:
    instants = [to_instant(datetime(*when, tzinfo=UTC)) for when in (first, last)]
    row = {"what": "no reply", "from": instants[0], "at": instants[1], "audience": "public"}
    assert sentences([row], ["public"]) == [words]


def test_a_voter_whose_vote_is_not_theirs_to_see_is_never_named(
    tables: Tables, alice: User, bob: User, carol: User
) -> None:
    for user in (alice, bob, carol):
        lifecycle.install(user, MORE_THAN_ONE, name="f")
    arrive(tables, "plan")
    for voter, audience in [
        ("secretly", "user:alice"), ("inside", "group:parc"), ("terry", "public"),
        ("mary", "public"),
    ]:  # fmt: skip
        vote(tables, voter, "plan", audience=audience)
    rounds.run_round()
    Match.objects.update(refreshed_at=None)
    refresh_cards(tables)
    stored = {m.filter.owner.username: str(m.evidence_rows) for m in Match.objects.all()}
    assert "secretly" in stored["alice"] and "inside" in stored["bob"]
    assert "secretly" not in stored["bob"] + stored["carol"] and "inside" not in stored["carol"]
    assert why(carol) == {"plan": f"terry and mary voted for it, the last {today()}"}
    bob.groups.clear()
    assert "inside" not in str(why(User.objects.get(pk=bob.pk)))


def test_a_forgotten_audience_takes_its_voters_along(tables: Tables, alice: User) -> None:
    arrive(tables, "plan")
    lifecycle.install(alice, MORE_THAN_ONE, name="f")
    vote(tables, "inside", "plan", audience="group:parc")
    for voter in ("terry", "mary"):
        vote(tables, voter, "plan")
    Match.objects.update(refreshed_at=None)
    rounds.run_round()
    assert "inside" in str(Match.objects.get().evidence_rows)
    forget("group:parc")
    assert "inside" not in str(list(Match.objects.values_list("evidence_rows", flat=True)))


def test_matches_of_an_older_text_get_no_reasons_of_the_new_one(
    tables: Tables, carol: User
) -> None:
    arrive(tables, "plan")
    vote(tables, "terry", "plan")
    made = lifecycle.install(carol, "about plan", name="f")
    rounds.run_round()
    lifecycle.change(made, "with a score above 0")
    Match.objects.update(refreshed_at=None)
    refresh_cards(tables)
    assert why(carol) == {"plan": ""}
