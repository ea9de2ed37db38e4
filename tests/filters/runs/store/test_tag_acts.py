"""Filters that tag: their tags are their owner's, go with the match, and go round in no circle."""

from __future__ import annotations

import pytest

from filters.authoring import lifecycle
from filters.authoring.acts import Acts
from filters.authoring.models import Filter
from filters.inbox.models import Match
from filters.people.models import User
from filters.reading.annotations.changes import said_by
from filters.reading.annotations.opinions import keep
from filters.reading.annotations.outbox import append_outbox
from filters.reading.models import OutboxAnnotation
from filters.runs.store import acts
from tapestry.core.annotations import standing
from tapestry.tables.delta.log import Tables
from tests.support.lists.live_filters import SCORE, arrive, run, vote

pytestmark = pytest.mark.usefixtures("engine")


def live(owner: User, text: str, label: str, name: str = "f") -> Filter:
    mode = Filter.Mode.LIVE
    return lifecycle.install(owner, text, name=name, mode=mode, acts=Acts("label", label=label))


def tags(user: User, name: str, tables: Tables) -> list[str]:
    append_outbox(tables)
    return [row.value or "" for row in standing(said_by(user, f"{name}@example.org"))]


def tag(user: User, name: str, value: str = "", take_back: str = "") -> None:
    given = {"kind": "tag", "value": value, "number": None, "take_back": take_back}
    keep(user, f"{name}@example.org", "public", given | {"private": True})


def votes(tables: Tables, number: float, *names: str) -> None:
    for name in names:
        vote(tables, f"v{number}", name, number)
    run()


def test_a_tag_is_its_owner_s_and_goes_with_the_match_that_gave_it(
    tables: Tables, carol: User, alice: User
) -> None:
    live(carol, SCORE, "todo")
    other = lifecycle.install(carol, "tagged todo", name="g", acts=Acts("label", label="seen"))
    arrive(tables, "one")
    arrive(tables, "two")
    tag(carol, "two", "todo")
    votes(tables, 1, "one", "two")
    assert "todo" in tags(carol, "one", tables) and tags(alice, "one", tables) == []
    assert tags(carol, "two", tables).count("todo") == 2, "what its owner said stays beside it"
    run()
    assert tags(carol, "one", tables) == ["todo", "seen"], "filters find tags of filters"
    votes(tables, -2, "one", "two")
    assert tags(carol, "one", tables) == ["seen"]
    assert tags(carol, "two", tables) == ["todo", "seen"]
    assert acts.undo(carol, other.matches.all()) == 2
    assert tags(carol, "one", tables) == [] and tags(carol, "two", tables) == ["todo"]
    assert {row.acts["label"] for row in other.matches.all()} == {Match.OWN}


def test_tags_go_round_in_no_circle_of_filters(tables: Tables, carol: User) -> None:
    live(carol, "not tagged x", "x", "a")
    live(carol, "tagged x and not tagged z", "y", "b")
    live(carol, "tagged y", "z", "c")
    arrive(tables, "one")
    for _ in range(8):
        run()
        append_outbox(tables)
    said = OutboxAnnotation.objects.filter(owner=carol)
    assert said.filter(kind="tag").count() == 3 >= said.exclude(kind="tag").count() > 0
    run()
    assert append_outbox(tables) == 0, "nothing more is said"


def test_a_tag_that_its_owner_took_back_stays_so(tables: Tables, carol: User) -> None:
    made = live(carol, SCORE, "todo")
    arrive(tables, "one")
    votes(tables, 1, "one")
    tag(carol, "one", take_back="todo")
    tag(carol, "one", "todo")
    votes(tables, -2, "one")
    assert made.matches.get().acts["label"] == Match.OWN
    votes(tables, 3, "one")
    assert tags(carol, "one", tables) == ["todo"], "it is theirs, and no filter tags it again"
