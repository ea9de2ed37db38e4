"""What a filter has found, and finds, when audiences come and go."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group

from filters.authoring import lifecycle
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs.store.filter_store import latest_instant
from filters.upkeep.forgetting import forget
from tapestry.tables.delta.log import Tables
from tests.support.lists.live_filters import SCORE, arrive, listed, run, vote
from tests.support.lists.live_filters import install as install_live

pytestmark = pytest.mark.usefixtures("engine")

PARC = "group:parc"


def test_a_person_who_joins_a_group_is_given_what_its_mail_would_have_brought(
    tables: Tables, alice: User, carol: User
) -> None:
    arrive(tables, "old", audience=PARC)
    arrive(tables, "mine")
    for voter in "xy":
        vote(tables, voter, "old", audience=PARC)
    lifecycle.install(carol, "from @x.org", name="all")
    lifecycle.install(carol, "voted for by more than one person", name="liked")
    lifecycle.install(carol, "from @x.org", name="later", existing=False)
    run()
    assert listed(carol) == {"mine"}
    carol.groups.add(Group.objects.get(name="parc"))
    run()
    assert listed(carol) == {"mine", "old"}
    vote(tables, "z", "old", audience=PARC)
    arrive(tables, "new", audience=PARC)
    run()
    run()
    delivered = set(Match.objects.values_list("filter__name", "msgid"))
    assert delivered == {
        ("all", "mine@example.org"),
        ("all", "old@example.org"),
        ("all", "new@example.org"),
        ("liked", "old@example.org"),
        ("later", "new@example.org"),
    }


@pytest.mark.parametrize("arrives", ["before", "after"])
@pytest.mark.parametrize("leaves", ["leaves", "is cleared", "is deleted", "is renamed"])
def test_a_person_who_leaves_a_group_keeps_what_is_there_for_others(
    tables: Tables, alice: User, arrives: str, leaves: str
) -> None:
    arrive(tables, "a", audience=PARC)
    arrive(tables, "gone", audience=PARC)
    lifecycle.install(alice, "from @x.org", name="f")
    run()
    assert listed(alice) == {"a", "gone"}
    if arrives == "before":
        arrive(tables, "a")
        run()
    group = Group.objects.get(name="parc")
    match leaves:
        case "leaves":
            alice.groups.remove(group)
        case "is cleared":
            group.user_set.clear()
        case "is deleted":
            group.delete()
        case _:
            group.name = "xerox"
            group.save()
    assert listed(alice) <= {"a"}
    if arrives == "after":
        arrive(tables, "a")
    run()
    run()
    assert listed(alice) == {"a"}
    assert Match.objects.get().audience == "public"


@pytest.mark.parametrize("old", [False, True])
def test_what_is_forgotten_of_one_audience_stays_found_where_another_has_it(
    tables: Tables, alice: User, old: bool
) -> None:
    arrive(tables, "a", audience=PARC)
    arrive(tables, "gone", audience=PARC)
    arrive(tables, "a")
    lifecycle.install(alice, "from @x.org", name="f")
    run()
    before = Match.objects.get(msgid="a@example.org").pk
    assert forget(PARC, latest_instant() + 1 if old else None).matches == 1
    run()
    assert listed(alice) == {"a"}
    vote(tables, "y", "a")
    run()
    assert Match.objects.get().pk == before


@pytest.mark.parametrize("old", [False, True])
def test_a_live_filter_does_not_go_on_with_what_was_forgotten(
    tables: Tables, alice: User, old: bool
) -> None:
    arrive(tables, "b")
    arrive(tables, "c")
    vote(tables, "x", "b", audience=PARC)
    vote(tables, "x", "c")
    install_live(alice, SCORE, "score")
    install_live(alice, "among the top 1 by votes", "top")
    run()
    forget(PARC, latest_instant() + 1 if old else None)
    run()
    delivered = set(Match.objects.filter(retracted_at=None).values_list("filter__name", "msgid"))
    assert delivered == {("score", "c@example.org"), ("top", "c@example.org")}


@pytest.mark.parametrize("restarted", [True, False])
@pytest.mark.parametrize("old", [True, False])
def test_a_vote_that_is_forgotten_stands_in_nobodys_way(
    tables: Tables, alice: User, restarted: bool, old: bool
) -> None:
    arrive(tables, "b")
    vote(tables, "w", "b", -1.0, PARC)
    vote(tables, "x", "b")
    made = lifecycle.install(alice, "with a score above 0", name="f")
    run()
    run()
    assert listed(alice) == set()
    forget(PARC, latest_instant() + 1 if old else None)
    run()
    if restarted:
        lifecycle.pause(made)
        lifecycle.resume(made)
    vote(tables, "z", "b")
    run()
    assert listed(alice) == {"b"}


def test_forgetting_that_was_interrupted_is_done_by_the_next(
    tables: Tables, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrive(tables, "a", audience="user:alice")
    lifecycle.install(alice, "from @x.org", name="f")
    run()
    before = latest_instant() + 1
    with monkeypatch.context() as patched:
        patched.setattr("filters.upkeep.forgetting._forget_deliveries", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            forget("user:alice", before)
    forget("user:alice", before)
    assert not Match.objects.exists()
