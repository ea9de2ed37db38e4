"""Cards are made by several workers at once: what a list says is what was found last."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from django.db import connection

from filters.inbox.lists import cards, joining, listing
from filters.inbox.models import Card, Match
from filters.people.models import User
from filters.people.people import Owner
from tapestry.core.schema import THREADS
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


IN_ENGLISH = """ALTER TABLE inbox_card ALTER msgid TYPE text COLLATE "en-x-icu",
ALTER imported TYPE text COLLATE "en-x-icu" """


@pytest.fixture
def sorted_in_english(db: None) -> None:
    """Have texts of cards sorted as a language is, where the database can."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(IN_ENGLISH)


@pytest.mark.usefixtures("sorted_in_english")
def test_cards_are_locked_in_one_order_where_the_database_sorts_as_a_language_does(
    tables: Tables, alice: User
) -> None:
    letters(tables, "b", "A", "C", "á")
    find(tables, installed(alice, "jones"), "b", "A", "C", "á")
    keys = [cards.CopyKey(msgid, "public") for msgid in ("b", "A", "C", "á")]
    upserted, _ = cards._read_cards(tables, keys, tables.data_files(THREADS))
    locked = joining._locked([key.msgid for key in keys])["public"]
    assert [card.msgid for card in locked] == [card.msgid for card in upserted]
    assert len(locked) == len(keys)


@pytest.mark.usefixtures("sorted_in_english")
def test_imports_of_a_day_stand_in_one_order_whatever_language_the_database_sorts_by(
    tables: Tables, alice: User
) -> None:
    letters(tables, "a", "b")
    find(tables, installed(alice, "jones"), "a", "b")
    for msgid, name in (("a", "archive.mbox"), ("b", "Zoo.mbox")):
        Card.objects.filter(msgid=msgid).update(imported=name, ts=1)
    Match.objects.update(matched_at=1)
    now = ["Zoo.mbox", "archive.mbox"]
    assert [card.block for card in listing.cards(alice)] == now
    assert [row[3] for row in listing.places(alice)] == now
    assert now == sorted(now), "as what was in a list before is put together with what still is"
