"""Filters that name other filters: whose they mean, and what is shown of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.inbox.models import Match
from filters.people import people
from filters.people.models import User
from filters.runs import rounds
from tapestry.core.errors import TapestryError
from tapestry.tables.delta.log import Tables

AsUser = Callable[[User], Client]


def person(name: str) -> User:
    """Make an account, as older installations have them: with a name like another's."""
    [user] = User.objects.bulk_create([User(username=name, email=f"{ord(name[0])}@example.org")])
    return user


@pytest.mark.parametrize(("victim", "thief"), [("alice", "Alice"), ("straße", "strasse")])
@pytest.mark.parametrize("text", ["in filter private", "in {}'s private"])
def test_a_private_filter_cannot_be_read_by_somebody_of_a_like_name(
    db: None, victim: str, thief: str, text: str
) -> None:
    lifecycle.install(person(victim), "about divorce", name="private")
    with pytest.raises(TapestryError, match="that you may use"):
        lifecycle.install(person(thief), text.format(victim))


def test_of_like_names_the_one_as_written_counts_then_ones_own_then_the_oldest(db: None) -> None:
    small, capital, loud = (person(name) for name in ("alice", "Alice", "ALICE"))
    for user in (small, capital, loud):
        subject = f"about {user.get_username()}-{user.pk}"
        lifecycle.install(user, subject, name="open", visibility=Filter.Visibility.SHARED)

    def meant(asker: User, owner: str | None) -> str:
        return people.resolver(asker)(owner, "open").rpartition("-")[2]

    stranger = person("bob")
    assert meant(stranger, "Alice") == meant(capital, None) == str(capital.pk)
    assert meant(small, "ALICE") == str(loud.pk)
    assert meant(stranger, "aLICE") == str(small.pk)
    assert meant(loud, "aLICE") == str(loud.pk)


def test_me_in_the_filter_of_another_is_who_owns_it(db: None, bob: User) -> None:
    alice = person("alice")
    lifecycle.install(alice, "to me", name="open", visibility=Filter.Visibility.SHARED)
    made = lifecycle.install(bob, "in ALICE's open")
    assert alice.email in made.tql


def test_a_shared_filter_is_shown_to_others_as_its_owner_wrote_it(
    alice: User, bob: User, as_user: AsUser
) -> None:
    shared = Filter.Visibility.SHARED
    lifecycle.install(alice, "about divorce", name="mine")
    lifecycle.install(alice, "m IN mine AND m.size > 3", name="large", visibility=shared)
    lifecycle.install(alice, "to me", name="open", visibility=shared)
    page = as_user(bob).get("/shared/").content.decode()
    assert "m IN mine AND m.size &gt; 3" in page and ">to me<" in page
    assert "divorce" not in page and "al@example.com" not in page


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("in alice's open", "m IN alice.open"),
        ("m IN alice.open AND m.size > 3", "m IN alice.open AND m.size &gt; 3"),
        ("in filter hers but not replies", "m IN alice.open AND NOT m.inreplyto IS NOT NULL"),
        ("m.inreplyto IN (SELECT r.msgid FROM messages r WHERE r IN alice.open)", "r IN alice"),
    ],
)
def test_what_others_filters_say_is_shown_by_their_names(
    mail: Tables, engine: None, alice: User, bob: User, as_user: AsUser, text: str, shown: str
) -> None:
    lifecycle.install(alice, "to me", name="open", visibility=Filter.Visibility.SHARED)
    if "hers" in text:
        lifecycle.install(bob, "m IN alice.open", name="hers")
    browser = as_user(bob)
    made = lifecycle.install(bob, text, name="")
    assert "alice@example.org" in made.tql and "example" not in made.name
    rounds.run_round()
    pages = [
        browser.post("/filters/understand/", {"text": text}),
        browser.get("/filters/"),
        browser.get(f"/filter/{made.name}/delete/"),
        browser.get("/message/", {"id": "plan@example.org"}, headers={"HX-Request": "true"}),
    ]
    contents = [page.content.decode().replace("to alice@example.org</div>", "") for page in pages]
    assert shown in contents[0]
    assert not any("al@example.com" in content for content in contents)
    assert not any("alice@" in content for content in contents[:3])


def test_a_match_through_another_persons_filter_names_that_filter(
    mail: Tables, engine: None, alice: User, bob: User
) -> None:
    lifecycle.install(alice, "to me", name="open", visibility=Filter.Visibility.SHARED)
    kept = lifecycle.install(bob, "in alice's open", name="kept")
    lifecycle.install(bob, "m IN alice.open", name="live", mode=Filter.Mode.LIVE)
    lifecycle.install(bob, "m IN alice.open AND m.size IS NULL", name="older")
    lifecycle.change(Filter.objects.get(name="older"), "about nothing", existing=False)
    rounds.run_round()
    his = Match.objects.filter(filter__owner=bob)
    reasons = dict(his.values_list("filter__name", "explanation"))
    assert reasons == {
        "kept": "in alice's open",
        "live": "m IN alice.open",
        "older": "m IN alice.open AND m.size IS NULL",
    }
    lifecycle.change(kept, "about lunch")
    assert kept.display_tql == "" and kept.explanation == ""


def test_what_an_older_meaning_left_is_told_as_it_was_meant_then(
    mail: Tables, engine: None, alice: User, bob: User
) -> None:
    lifecycle.install(alice, "to me", name="open", visibility=Filter.Visibility.SHARED)
    base = lifecycle.install(bob, "in alice's open", name="base")
    lifecycle.install(bob, "m IN base AND m.size IS NULL", name="narrow")
    lifecycle.change(base, "about nothing")
    rounds.run_round()
    assert "example" not in Match.objects.get(filter__name="narrow").explanation
