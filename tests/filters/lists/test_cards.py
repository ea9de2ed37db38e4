"""Cards are made by several workers at once: what a list says is what was found last."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from support.listed_mail import find, installed, letters

from filters.lists import cards
from filters.models import Match
from tapestry.tables.delta.log import Tables


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
