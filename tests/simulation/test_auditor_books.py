"""The auditor of address books and calendars: what servers and hands say stands, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.simulation.auditor import judge
from tests.simulation.stories import Story

BEGIN = 20_000 * 86_400_000_000
ANN, BILL = ["contact", "ann@x.org", None], ["contact", "bill@x.org", None]
SOON, OVER = ["meeting", "ann@x.org", BEGIN + 99], ["meeting", "ann@x.org", BEGIN + 5]
OFF = ["cancelled", "e1", None]


def by_hand(act: str, *says: list[Any], status: int | None = 302) -> dict[str, Any]:
    told = {"what": "act", "kind": "book", "person": "alice", "msgids": []}
    return {**told, "act": act, "says": list(says), "status": status}


def judged(
    stands: list[list[Any]],
    says: list[list[Any]],
    *done: dict[str, Any],
    may: Sequence[list[Any]] = (),
    is_well: bool = True,
    back: Sequence[list[Any]] = (),
) -> list[str]:
    """Return what is found where that stands, and a source says that; ``back`` was taken back."""
    story = Story()
    story.person("alice")
    for entry in done:
        story.tell(**entry)
    rows = []
    for number, (kind, value, starts) in enumerate(stands):
        about = "contacts of alice" if kind == "contact" else "calendar of alice"
        row = {"annid": f"a{number}", "msgid": about, "owner": "alice", "audience": "user:alice"}
        row |= {"kind": kind, "value": value, "number": None, "ts": BEGIN + number}
        rows.append({**row, "starts": row["ts"] if starts is None else starts})
        if [kind, value, starts] in back:
            taken = {"annid": f"b{number}", "kind": "retraction", "value": f"a{number}"}
            rows.append({**row, **taken, "starts": row["ts"]})
    story.stored["annotations"] = rows
    story.settle(BEGIN + 9)
    source = {"key": 1, "person": "alice", "kind": "carddav", "is_well": is_well}
    story.tell("seen", kind="books", rows=[{**source, "says": says, "may": list(may)}])
    return [str(one) for one in judge(story.entries) if one.law == "address books"]


@pytest.mark.parametrize("said", [ANN, SOON, OFF])
def test_what_a_source_says_stands_and_nothing_else(said: list[Any]) -> None:
    kind, value, _ = said
    assert judged([said], [said]) == []
    (lacks,) = judged([], [said])
    assert f"alice lacks the {kind} {value}" in lacks
    (lacks,) = judged([said], [said], back=[said])
    assert f"alice lacks the {kind} {value}" in lacks
    (more,) = judged([said], [])
    assert f"nobody says the {kind} {value}" in more


def test_a_meeting_that_has_begun_stays_as_it_was() -> None:
    assert judged([OVER], []) == judged([], [OVER]) == []


def test_what_is_kept_by_hand_stands_whatever_sources_say() -> None:
    add, remove = by_hand("add", ANN), by_hand("remove", ANN)
    assert judged([ANN], [], add) == judged([], [], add, remove) == []
    assert len(judged([], [], add)) == len(judged([ANN], [], add, remove)) == 1
    assert len(judged([ANN], [], by_hand("add", ANN, status=400))) == 1
    assert judged([ANN], [], by_hand("add", ANN, status=None)) == []


def test_a_contact_that_was_taken_out_by_hand_may_stay_away_until_no_source_says_it() -> None:
    remove = by_hand("remove", ANN)
    assert judged([], [ANN], remove) == judged([ANN], [ANN], remove) == []
    assert len(judged([ANN], [BILL], remove)) == 2


def test_a_file_of_events_replaces_the_one_before() -> None:
    first, second = by_hand("replace", SOON), by_hand("replace", OFF)
    assert judged([OFF], [], first, second) == []
    assert len(judged([SOON, OFF], [], first, second)) == len(judged([], [], second)) == 1


def test_nobody_knows_what_a_source_said_that_is_paused_or_cannot_be_read() -> None:
    assert judged([ANN], [], is_well=False) == judged([], [ANN], is_well=False) == []
    assert judged([ANN], [], may=[ANN]) == judged([], [], may=[ANN]) == []


def test_after_a_backup_was_brought_back_sources_say_what_they_say() -> None:
    restored = {"what": "upkeep", "kind": "restore"}
    add = by_hand("add", BILL)
    assert judged([ANN, BILL], [ANN], add, restored) == judged([ANN], [ANN], add, restored) == []
    assert len(judged([], [ANN], restored)) == 1
