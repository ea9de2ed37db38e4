"""Who agrees with a reader: in filters and on a page, from votes that the reader may see."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest
from django.test import Client
from hypothesis import given, settings

from filters.authoring import lifecycle
from filters.inbox.models import Match
from filters.people.models import User
from filters.reading.agreement import agreements_with
from filters.runs import rounds
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.agreement import agreements
from tapestry.core.annotations import standing
from tapestry.core.message import Annotation, Message
from tapestry.core.schema import RETRACTION
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_annotations, append_messages
from tests.support.engines.agreement import share
from tests.support.generators.agreements import voted

SignIn = Callable[[User], Client]

annids = (f"vote-{number}" for number in count())


def vote(owner: str, msgid: str, number: int, audience: str = "public") -> Annotation:
    return Annotation(next(annids), msgid, owner, "vote", None, float(number), audience)


def say(tables: Tables, *said: Annotation) -> None:
    append_annotations(tables, DjangoClock(), said)


@pytest.fixture
def voters(tables: Tables, alice: User, bob: User, carol: User) -> Tables:
    """Four messages: of Alice's votes Bob agrees with three of four, Carol with one."""
    mail = [Message(f"m{number}@x", subject=f"Topic {number}") for number in range(7)]
    append_messages(tables, DjangoClock(), mail)
    votes: list[Annotation] = []
    for number, msgid in enumerate(f"m{number}@x" for number in range(4)):
        sign = -1 if number == 3 else 1
        votes += [vote("alice", msgid, 1), vote("bob", msgid, sign), vote("carol", msgid, -sign)]
    say(tables, *votes)
    return tables


def found(user: User) -> set[str]:
    return set(Match.objects.visible_to(user).values_list("msgid", flat=True))


@pytest.mark.usefixtures("engine")
def test_somebody_is_left_out_from_now_on_and_counts_again(
    voters: Tables, alice: User, bob: User, as_user: SignIn
) -> None:
    lifecycle.install(alice, "liked by people like me", name="liked", existing=False)
    client = as_user(alice)
    say(voters, vote("bob", "m4@x", 1), vote("carol", "m6@x", 1))
    rounds.run_round()
    assert found(alice) == {"m4@x"}
    assert client.post("/agreement/", {"person": "bob", "act": "leave-out"}).status_code == 302
    say(voters, vote("bob", "m5@x", 1))
    rounds.run_round()
    assert found(alice) == {"m4@x"}, "what was found stays, and nothing of theirs is added"
    page = " ".join(client.get("/agreement/").content.decode().split())
    assert "3 of 4 votes as yours · left out by you" in page
    assert "“bob” is left out" in page
    assert client.post("/agreement/", {"person": "bob", "act": "count"}).status_code == 302
    say(voters, vote("bob", "m6@x", 1))
    rounds.run_round()
    assert found(alice) == {"m4@x", "m6@x"}, "not what bob said while left out"


def test_a_shared_filter_tells_nobody_whom_its_owner_leaves_out(
    voters: Tables, alice: User, bob: User, as_user: SignIn
) -> None:
    mine = lifecycle.install(alice, "liked by people like me", name="liked", visibility="shared")
    theirs = lifecycle.install(bob, "in alice's liked", name="hers")
    before = theirs.tql
    as_user(alice).post("/agreement/", {"person": "carol", "act": "leave-out"})
    mine.refresh_from_db()
    theirs.refresh_from_db()
    assert "'carol'" in mine.tql
    assert theirs.tql == before and "'carol'" not in before


def test_the_page_names_them_with_the_messages(
    voters: Tables, alice: User, as_user: SignIn
) -> None:
    page = as_user(alice).get("/agreement/")
    bob, carol = page.context["colleagues"].shown
    assert (bob.agreement.person, len(bob.agreement.agreed), bob.agreement.counts) == (
        "bob",
        3,
        True,
    )
    assert [card.subject for card in bob.disagreed] == ["Topic 3"]
    assert (carol.agreement.person, carol.agreement.counts) == ("carol", False)
    assert "/message/?id=m3%40x" in page.content.decode()


def test_votes_out_of_sight_change_nothing_on_it(
    voters: Tables, alice: User, bob: User, as_user: SignIn
) -> None:
    client = as_user(alice)
    before = client.get("/agreement/").context["colleagues"]
    secret = "user:bob"
    append_messages(voters, DjangoClock(), [Message("b@x", subject="Secret", audience=secret)])
    say(voters, vote("bob", "m4@x", 1, secret), vote("carol", "b@x", 1, "group:others"))
    say(voters, *[vote("bob", f"m{number}@x", -1, secret) for number in range(4)])
    assert client.get("/agreement/").context["colleagues"] == before


def test_a_vote_taken_back_no_longer_counts(voters: Tables, alice: User) -> None:
    last = vote("bob", "m4@x", 1)
    say(voters, vote("alice", "m4@x", 1), last)
    assert [len(it.agreed) for it in agreements_with(alice)] == [4, 1]
    say(voters, Annotation("back", "m4@x", "bob", RETRACTION, last.annid))
    assert [len(it.agreed) for it in agreements_with(alice)] == [3, 1]


@pytest.mark.parametrize(
    "given", [{}, {"person": "eve", "act": "leave-out"}, {"person": "bob", "act": "praise"}]
)
def test_what_is_no_choice_is_refused_in_a_sentence(
    voters: Tables, alice: User, as_user: SignIn, given: dict[str, str]
) -> None:
    answer = as_user(alice).post("/agreement/", given)
    assert answer.status_code == 400
    assert "Choose somebody of the list." in answer.content.decode()


@settings(max_examples=60, deadline=None, database=None)
@given(voted())
def test_the_page_and_filters_count_the_same_shares(data: dict[str, list]) -> None:
    names = ("annid", "msgid", "owner", "kind", "value", "number", "audience")
    rows = [Annotation(*(row.get(name) for name in names)) for row in data["annotations"]]
    standing_rows = standing(rows)
    kept = {row.annid for row in standing_rows}
    visible = {"annotations": [row for row in data["annotations"] if row["annid"] in kept]}
    for person in ("alice", "bob"):
        shares = {it.person: it.share for it in agreements(standing_rows, person)}
        for other in ("alice", "bob", "Joe"):
            expected = share(visible, other, person)
            assert shares.get(other) == (expected if expected is None else float(expected))
