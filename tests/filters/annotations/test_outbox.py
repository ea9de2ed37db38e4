"""The outbox of annotations: what is in the table goes, and no page reads what others said."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection

from filters.annotations import outbox
from filters.annotations.changes import said_by
from filters.annotations.outbox import KEPT, annotate, append_outbox, prune, said_of, take_back
from filters.models import OutboxAnnotation
from tapestry.core.clock import wall_clock
from tapestry.deliver.annotations import standing
from tapestry.tables.delta.log import Tables

PLAN = "plan@example.org"


def tag(owner: User, value: str) -> OutboxAnnotation:
    return annotate(owner, PLAN, "public", "tag", value=value)


def tags_of(owner: User) -> list[str | None]:
    return [row.value for row in standing(said_by(owner, PLAN))]


def age() -> None:
    OutboxAnnotation.objects.exclude(appended_at=None).update(appended_at=wall_clock() - KEPT - 1)


def test_what_is_in_the_table_for_a_month_goes_and_what_waits_stays(
    mail: Tables, bob: User
) -> None:
    tag(bob, "old")
    append_outbox(mail)
    age()
    tag(bob, "new")
    append_outbox(mail)
    tag(bob, "waits")
    OutboxAnnotation.objects.filter(appended_at=None).update(created=1)
    assert prune() == 1
    assert [row.value for row in OutboxAnnotation.objects.order_by("pk")] == ["new", "waits"]
    assert tags_of(bob) == ["old", "new", "waits"]


def test_what_is_taken_back_twice_is_one_row_of_the_table_even_if_it_was_pruned(
    mail: Tables, bob: User
) -> None:
    said = tag(bob, "old").as_annotation()
    for added in (2, 0):
        take_back(bob, [said])
        take_back(bob, [said])
        assert append_outbox(mail) == added
        age()
        prune()
    assert tags_of(bob) == []


def test_what_is_appended_while_it_is_read_is_seen(
    mail: Tables, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    tag(bob, "work")
    stored = outbox.annotations_on

    def appended_first(*given: object) -> object:
        append_outbox(mail)
        return stored(*given)

    monkeypatch.setattr(outbox, "annotations_on", appended_first)
    assert {row.value for row in said_of(mail, PLAN, ["public"]) if row.kind == "tag"} == {"work"}


def test_one_message_is_found_by_an_index(bob: User) -> None:
    plan = OutboxAnnotation.objects.filter(msgid=PLAN, appended_at=None).explain()
    names = connection.introspection.get_constraints(
        connection.cursor(), OutboxAnnotation._meta.db_table
    )
    assert "outbox_msgid" in names
    assert "SCAN" not in plan
