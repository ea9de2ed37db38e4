"""Filters that name other filters: whose they mean, and what is shown of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from filters import people, writing
from filters.models import Filter, Profile
from tapestry.core.errors import TapestryError

AsUser = Callable[[User], Client]


def person(name: str) -> User:
    user = User.objects.create_user(name, f"{len(name)}-{name[0]}@example.org", "secret")
    Profile.objects.create(user=user)
    return user


@pytest.mark.parametrize(("victim", "thief"), [("alice", "Alice"), ("straße", "strasse")])
@pytest.mark.parametrize("text", ["in filter private", "in {}'s private"])
def test_a_private_filter_cannot_be_read_by_somebody_of_a_like_name(
    db: None, victim: str, thief: str, text: str
) -> None:
    writing.install(person(victim), "about divorce", name="private")
    with pytest.raises(TapestryError, match="that you may use"):
        writing.install(person(thief), text.format(victim))


def test_of_like_names_the_one_as_written_counts_then_ones_own_then_the_oldest(db: None) -> None:
    small, capital, loud = (person(name) for name in ("alice", "Alice", "ALICE"))
    for one in (small, capital, loud):
        subject = f"about {one.get_username()}-{one.pk}"
        writing.install(one, subject, name="open", visibility=Filter.Visibility.SHARED)

    def meant(asker: User, owner: str | None) -> str:
        return people.resolver(asker)(owner, "open").rpartition("-")[2]

    stranger = person("bob")
    assert meant(stranger, "Alice") == meant(capital, None) == str(capital.pk)
    assert meant(small, "ALICE") == str(loud.pk)
    assert meant(stranger, "aLICE") == str(small.pk)
    assert meant(loud, "aLICE") == str(loud.pk)


def test_me_in_the_filter_of_another_is_who_owns_it(db: None, bob: User) -> None:
    alice = person("alice")
    writing.install(alice, "to me", name="open", visibility=Filter.Visibility.SHARED)
    made = writing.install(bob, "in ALICE's open")
    assert alice.email in made.tql
