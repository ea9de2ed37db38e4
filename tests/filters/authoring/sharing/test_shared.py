"""Filters that people share: seen, followed, and what their owner is told before they change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.authoring.sharing.following import followed_by
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs import rounds
from filters.site.settings.budgets import read_budgets
from tapestry.tables.delta.log import Tables
from tests.support.lists.live_filters import arrive

SignIn = Callable[[User], Client]


def share(owner: User, text: str, name: str) -> Filter:
    return lifecycle.install(owner, text, name=name, visibility="shared")


def page_of(client: Client, path: str = "/shared/") -> str:
    return client.get(path).content.decode()


def follow(client: Client, owner: str, name: str) -> Any:
    return client.post("/shared/follow/", {"owner": owner, "name": name})


def test_shared_filters_are_seen_by_all_and_private_ones_by_nobody(
    alice: User, bob: User, as_user: SignIn
) -> None:
    share(alice, "about release", "open")
    lifecycle.install(alice, "about budget", name="closed")
    page = page_of(as_user(bob))
    assert "alice’s open" in page and "about release" in page and "nobody else uses it yet" in page
    assert "closed" not in page and "budget" not in page
    assert "Nobody else shares a filter yet." in page_of(as_user(alice))


def test_strangers_see_nothing(alice: User) -> None:
    share(alice, "about release", "open")
    for response in (Client().get("/shared/"), follow(Client(), "alice", "open")):
        assert response.status_code == 302 and "/sign-in/" in response["Location"]


@pytest.mark.parametrize(("owner", "name"), [("alice", "closed"), ("alice", "none"), ("bob", "x")])
def test_what_is_not_shared_is_not_there(
    alice: User, bob: User, as_user: SignIn, owner: str, name: str
) -> None:
    lifecycle.install(alice, "about budget", name="closed")
    share(bob, "about x", "x")
    assert follow(as_user(bob), owner, name).status_code == 404
    assert as_user(bob).post("/shared/follow/").status_code == 404
    assert not Filter.objects.filter(owner=bob).exclude(name="x").exists()


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("name", ["plans", "by-jones", "from", "2"])
def test_who_follows_finds_what_they_themselves_may_see(
    mail: Tables, alice: User, carol: User, as_user: SignIn, name: str
) -> None:
    share(alice, "about plan or parc", name)
    client = as_user(carol)
    answer = follow(client, "alice", name)
    own = Filter.objects.get(owner=carol)
    assert answer["Location"] == own.get_absolute_url() and own.name == name
    assert follow(client, "alice", name)["Location"] == own.get_absolute_url(), "not twice"
    rounds.run_round()
    found = set(Match.objects.filter(filter=own).values_list("msgid", flat=True))
    assert found == {"plan@example.org", "reply@example.org"}
    assert Match.objects.visible_to(alice).count() == 4
    page = page_of(client)
    assert "following" in page and "one person uses it" in page and "Unfollow" in page
    assert f"alice’s {name} finds: about plan or parc" in page_of(client, f"/in/{name}/")


def test_who_follows_by_a_filter_that_is_paused_has_it_go_on(
    alice: User, carol: User, as_user: SignIn
) -> None:
    share(alice, "about plan", "plans")
    client = as_user(carol)
    follow(client, "alice", "plans")
    lifecycle.pause(Filter.objects.get(owner=carol))
    follow(client, "alice", "plans")
    assert Filter.objects.get(owner=carol).active


def test_who_follows_twice_at_one_time_has_one_filter(
    alice: User, carol: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    share(alice, "about plan", "plans")

    def has_dependents(_name: object) -> bool:
        monkeypatch.undo()
        lifecycle.install(carol, "in alice's plans", name="plans")
        return False

    monkeypatch.setattr(lifecycle, "has_dependents", has_dependents)
    assert follow(as_user(carol), "alice", "plans")["Location"] == "/in/plans/"
    assert Filter.objects.get(owner=carol).text == "in alice's plans"


def test_it_is_called_as_its_owner_calls_it(
    alice: User, bob: User, carol: User, as_user: SignIn
) -> None:
    zoo = lifecycle.install(alice, "about animals", title="動物園 &", visibility="shared")
    digest = "in filter mine or about x"
    lifecycle.install(carol, "in alice's filter", name="mine")
    lifecycle.install(carol, digest, name="digest", title="Tägliches <i>", visibility="shared")
    client, called = as_user(bob), "alice’s 動物園 &amp;"
    page = page_of(client)
    assert f"<h2>{called}</h2>" in page and "alice’s filter" not in page
    assert "its name in a filter: <code>in alice&#x27;s &quot;filter&quot;</code>" in page
    answer = client.post("/shared/follow/", {"owner": "alice", "name": zoo.name}, follow=True)
    page = answer.content.decode()
    assert f"You follow {called}." in page and f"{called} finds: about animals" in page
    own = Filter.objects.get(owner=bob)
    assert (own.name, own.title) == ("filter", "動物園 &")
    words = "2 other people use it (carol’s Tägliches &lt;i&gt;)."
    assert words in page_of(as_user(alice), "/filter/filter/delete/")
    lifecycle.change(zoo, "about animals", title="秘密", visibility="private")
    page = page_of(client, "/in/filter/")
    assert "alice has deleted filter, or no longer shares it." in page and "秘密" not in page


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("how", ["deleted", "unshared"])
def test_followers_are_told_when_it_is_gone_and_keep_what_they_found(
    mail: Tables, alice: User, carol: User, as_user: SignIn, how: str
) -> None:
    plans = share(alice, "about plan", "plans")
    client = as_user(carol)
    follow(client, "alice", "plans")
    rounds.run_round()
    if how == "deleted":
        lifecycle.delete(plans)
    else:
        lifecycle.change(plans, "about secrets", visibility="private")
    arrive(mail, "plan late")
    rounds.run_round()
    page = page_of(client, "/in/plans/")
    assert "alice has deleted plans, or no longer shares it." in page
    assert "secrets" not in page
    assert Match.objects.visible_to(carol).count() == 2


@pytest.mark.usefixtures("engine")
def test_followers_of_somebody_who_may_not_sign_in_are_told_that_it_goes_on(
    mail: Tables, alice: User, carol: User, as_user: SignIn
) -> None:
    share(alice, "about plan", "plans")
    client = as_user(carol)
    follow(client, "alice", "plans")
    alice.is_active = False
    alice.save(update_fields=["is_active"])
    arrive(mail, "plan late")
    rounds.run_round()
    assert Match.objects.visible_to(carol).filter(msgid__startswith="plan late").exists()
    page = page_of(client, "/in/plans/")
    assert "alice’s plans finds: about plan" in page and "no longer shares it" not in page
    assert "<h2>alice’s" not in page_of(client), "nobody else begins to follow it"


def test_its_owner_learns_who_uses_it_before_anything_is_done(
    alice: User, bob: User, carol: User, as_user: SignIn
) -> None:
    share(alice, "about plan", "plans")
    lifecycle.install(bob, "in alice's plans and not replies", name="secretly")
    lifecycle.install(carol, "in alice's plans", name="mine")
    share(carol, "in filter mine or about x", "digest")
    lifecycle.install(alice, "in filter plans and from Jones", name="narrow")
    words = "2 other people use it (carol’s digest), and so does your filter narrow."
    client = as_user(alice)
    for path in ("/filter/plans/delete/", "/filter/plans/edit/"):
        page = page_of(client, path)
        assert words in page
        assert "secretly" not in page and "mine" not in page
    assert Filter.objects.filter(name="plans").exists()
    assert "other people use it" not in page_of(client, "/filter/narrow/delete/")
    stop = "If you make it private or change its short name, their filters stop finding new"
    assert stop in page_of(client, "/filter/plans/edit/")
    lifecycle.install(alice, "in filter narrow and from Mary", name="narrower")
    page = page_of(client, "/filter/narrow/edit/")
    assert "What you change here changes there too." in page and stop not in page
    assert "<strong>2</strong> people use it" in page_of(as_user(bob))


def test_a_filter_with_more_to_say_follows_nothing(alice: User, bob: User) -> None:
    share(alice, "about plan", "plans")
    own = lifecycle.install(bob, "in alice's plans and from Jones", name="own")
    assert followed_by(own) is None
    other = lifecycle.install(bob, "in ALICE's plans", name="other")
    assert followed_by(other) is not None


def test_who_has_too_many_filters_is_told_so(
    alice: User, bob: User, as_user: SignIn, settings: Any
) -> None:
    share(alice, "about plan", "plans")
    settings.BUDGETS = read_budgets("filters=0")
    answer = follow(as_user(bob), "alice", "plans")
    assert answer.status_code == 400 and "Delete what you no longer need." in str(
        answer.content.decode()
    )


def test_it_asks_the_database_a_bounded_number_of_times(
    alice: User, bob: User, as_user: SignIn, django_assert_max_num_queries: Any
) -> None:
    client = as_user(bob)
    for number in range(12):
        share(alice, f"about topic{number}", f"topic-{number}")
    with django_assert_max_num_queries(20):
        page_of(client)


def test_it_can_be_used_in_another(alice: User, bob: User, as_user: SignIn) -> None:
    share(alice, "about plan", "plans")
    client = as_user(bob)
    assert "/filters/new/?text=in%20alice%27s%20plans%20" in page_of(client)
    assert "in alice&#x27;s plans" in page_of(
        client, "/filters/new/?text=in%20alice%27s%20plans%20"
    )
