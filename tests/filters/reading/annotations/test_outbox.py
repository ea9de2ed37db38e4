"""The outbox of annotations: what is in the table goes, and no page reads what others said."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client

from filters.people.models import User
from filters.reading.annotations import outbox
from filters.reading.annotations.changes import said_by
from filters.reading.annotations.outbox import (
    KEPT,
    annotate,
    append_outbox,
    prune,
    said_of,
    take_back,
)
from filters.reading.models import OutboxAnnotation
from filters.runs.models import SetAside
from filters.site.work import set_aside
from tapestry.core.annotations import standing
from tapestry.core.clock import wall_clock
from tapestry.core.message import Annotation
from tapestry.tables.delta.log import Tables
from tests.support.faults.set_asides import Planted

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


def test_an_annotation_over_which_an_error_is_raised_costs_no_other(
    mail: Tables, alice: User, bob: User, as_user: Callable[[User], Client],
    monkeypatch: pytest.MonkeyPatch, set_asides: Planted,
) -> None:  # fmt: skip
    errors = set_asides.expect()
    mine, theirs = (
        annotate(owner, "plan@example.org", "public", "tag", value="x") for owner in (alice, bob)
    )
    plain = OutboxAnnotation.as_annotation

    def fails(row: OutboxAnnotation) -> Annotation:
        if row.pk == mine.pk:
            raise KeyError
        return plain(row)

    with monkeypatch.context() as broken:
        broken.setattr(OutboxAnnotation, "as_annotation", fails)
        assert append_outbox(mail) == 1
        assert append_outbox(mail) == 0 and not outbox.is_any_due() and len(errors) == 1
    theirs.refresh_from_db()
    mine.refresh_from_db()
    assert theirs.appended_at and mine.appended_at is None
    why = SetAside.objects.get().reason
    page = "/message/?id=plan@example.org&in=public"
    assert why in as_user(alice).get(page).content.decode()
    assert why not in as_user(bob).get(page).content.decode()
    set_aside.try_now()
    assert append_outbox(mail) == 1 and not SetAside.objects.exists()
