"""Scopes against their definition, over random destinations and matches."""

from __future__ import annotations

import random

import pytest

from filters.authoring.models import Filter
from filters.delivery.dispatch import scope
from filters.delivery.models import Destination, Subscription
from filters.inbox.models import Match
from filters.people.models import User


def test_a_scope_has_what_a_destination_takes(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scope, "FILTERS", 3)  # so that several queries are needed
    chance = random.Random(7)
    filters = [
        Filter.objects.create(owner=owner, name=f"f{number}", text="x")
        for owner in (alice, bob)
        for number in range(4)
    ]
    Match.objects.bulk_create(_match(chance.choice(filters), position) for position in range(60))
    for round_ in range(40):
        destinations = [_destination(chance, owner, filters) for owner in (alice, bob, alice)]
        untils = {row: row.cursor + chance.randrange(30) for row in destinations}
        scopes = scope.scopes_of(untils)
        found = {row.pk: row for rows in scope.matches_in(scopes.values()) for row in rows}
        for destination, until in untils.items():
            wanted = {row.pk for row in Match.objects.all() if _takes(destination, row, until)}
            mine = scopes[destination.pk]
            has = {pk for pk, row in found.items() if mine.has(row.filter_id, row.sequence or 0)}
            assert has == wanted, round_
        of_any = {
            row.pk
            for row in Match.objects.all()
            for destination, until in untils.items()
            if _takes(destination, row, until)
        }
        assert set(found) == of_any, "nothing else is read"


def _takes(destination: Destination, match: Match, until: int) -> bool:
    """Tell, as Destination says it, whether a match is to be delivered to a destination."""
    position = match.sequence or 0
    if not destination.cursor < position <= until:
        return False
    is_owners = match.filter.owner_id == destination.owner_id
    if destination.all_filters and is_owners and position > destination.all_since:
        return True
    chosen = destination.subscriptions.filter(filter=match.filter, since__lt=position)
    return chosen.exists()


def _match(filter_: Filter, position: int) -> Match:
    return Match(
        filter=filter_,
        msgid=f"m{position}",
        audience="public",
        matched_at=0,
        stored_at=0,
        shown_at=0,
        sequence=position,
    )


def _destination(chance: random.Random, owner: User, filters: list[Filter]) -> Destination:
    destination = Destination.objects.create(
        owner=owner,
        kind="webhook",
        name="hook",
        all_filters=chance.random() < 0.5,
        all_since=chance.randrange(40),
        cursor=chance.randrange(50),
    )
    mine = [filter_ for filter_ in filters if filter_.owner_id == owner.pk]
    for filter_ in chance.sample(mine, chance.randrange(4)):
        Subscription.objects.create(
            destination=destination, filter=filter_, since=chance.randrange(60)
        )
    return destination
