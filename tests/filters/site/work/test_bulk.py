"""Rows written by one prepared statement are those that the models would have written."""

from __future__ import annotations

from typing import Any

import pytest

from filters.authoring.models import Filter
from filters.inbox.models import Match
from filters.people.models import User
from filters.site.work.db import batching
from filters.site.work.db.batching import by_key
from filters.site.work.db.bulk import insert_rows, update_rows

FIELDS = ("filter", "msgid", "audience", "matched_at", "stored_at", "shown_at", "evidence")


@pytest.fixture
def jones(db: None) -> Filter:
    owner = User.objects.create(username="terry")
    return Filter.objects.create(owner=owner, name="jones", text="from jones", tql="from jones")


def essence(match: Match) -> dict[str, Any]:
    return {field.name: getattr(match, field.name) for field in Match._meta.fields}


def test_what_is_not_given_has_the_models_defaults(jones: Filter) -> None:
    evidence = ["a@x", "b\u2028“é”@x"]
    made = Match.objects.create(
        filter=jones, msgid="a@x", audience="public", matched_at=5, stored_at=6, shown_at=7,
        evidence=evidence,
    )  # fmt: skip
    insert_rows(Match, FIELDS, [(jones.pk, "b@x", "public", 5, 6, 7, tuple(evidence))])
    inserted = Match.objects.exclude(pk=made.pk).get()
    assert essence(inserted) == essence(made) | {"id": inserted.pk, "msgid": "b@x"}


def test_what_is_gone_stays_gone(jones: Filter) -> None:
    insert_rows(Match, FIELDS, [(jones.pk, f"{n}@x", "public", 5, 6, 7, ()) for n in range(3)])
    first, second, third = Match.objects.order_by("pk")
    key = second.pk
    second.delete()
    rows = [{"what": "reply", "who": "Ann"}]
    fields = ("refreshed_at", "evidence_rows")
    update_rows(Match, fields, [(9, rows, key), (9, rows, third.pk), (8, [], first.pk)])
    found = Match.objects.order_by("pk").values_list("refreshed_at", "evidence_rows")
    assert list(found) == [(8, []), (9, rows)]
    insert_rows(Match, FIELDS, [])


def test_keys_are_looked_up_however_many(jones: Filter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "KEYS", 2)
    assert by_key(Filter.objects.all(), [jones.pk, *range(10**6, 10**6 + 5)], "name") == {
        jones.pk: "jones"
    }
    assert by_key(Filter.objects.all(), [], "name") == {}
