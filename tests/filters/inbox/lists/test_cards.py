"""Cards are made by several workers at once: what a list says is what was found last."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from filters.inbox.lists import cards
from filters.inbox.models import Card, Match
from filters.people.models import User
from filters.people.people import Owner
from tapestry.tables.delta.log import Tables
from tests.support.lists.listed_mail import find, installed, letters


def test_evidence_that_changes_as_a_card_is_made_is_what_is_shown(
    tables: Tables, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    letters(tables, "question")
    letters(tables, "first", "second", root="question")
    find(tables, installed(alice, "jones"), "question")
    matches = Match.objects.filter(msgid="question")
    matches.update(evidence=["question", "first"], refreshed_at=None)
    read = cards.evidence_rows

    def evidence_rows(*given: Any) -> Any:
        found = read(*given)
        monkeypatch.setattr(cards, "evidence_rows", read)
        matches.update(evidence=["question", "second"], refreshed_at=None)
        assert cards.refresh_cards(tables) == 1, "another worker is done before"
        return found

    monkeypatch.setattr(cards, "evidence_rows", evidence_rows)
    assert cards.refresh_cards(tables) == 0
    [shown] = matches.get().evidence_rows
    assert shown["msgid"] == "second"


def test_an_account_that_is_deleted_as_cards_are_made_sets_nothing_aside(
    tables: Tables, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    letters(tables, "a")
    for owner in (alice, bob):
        find(tables, installed(owner, "jones"), "a")
    Match.objects.update(card=None)
    Card.objects.all().delete()
    read = cards.people.owners_by_key

    def owners_by_key(keys: Iterable[int]) -> dict[int, Owner]:
        User.objects.filter(pk=bob.pk).delete()
        return read(keys)

    monkeypatch.setattr(cards.people, "owners_by_key", owners_by_key)
    assert cards.refresh_cards(tables) == 1
    assert Match.objects.get().card is not None
