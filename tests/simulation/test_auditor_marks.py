"""The auditor finds marks and keywords that were set and are not there, or for others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulation.auditor import judge
from tests.simulation.stories import Story

HOUR = 3_600_000_000
BEGIN = 480_000 * HOUR
TAG = {"annid": "k1", "msgid": "m1", "owner": "alice", "kind": "tag", "value": "Later"}
TAG |= {"number": None, "audience": "user:alice"}
CLEARED = TAG | {"annid": "k2", "kind": "retraction", "value": "k1"}


def marked(*acts: str, reads: tuple[bool, ...], at: int | None = None) -> list[str]:
    """Return what is found if alice acts on m1, of two filters, and its matches are read so."""
    story = Story()
    story.person("alice")
    story.mail(BEGIN, {"msgid": "m1"})
    for key in (1, 2):
        story.filter(key, "alice", "m.size = 1")
        story.match(key, "m1", BEGIN)
    story.settle(BEGIN + HOUR)
    for kind in acts:
        story.tell("act", person="alice", kind=kind, msgids=["m1"], status=200, of="", step_made=[])
    for match, is_read in zip(story.matches, reads, strict=True):
        match["read_at"] = BEGIN + HOUR if is_read else None
    story.matches[1]["acted_at"] = at
    story.settle(BEGIN + 2 * HOUR)
    return [str(finding) for finding in judge(story.entries) if finding.law == "marks"]


def test_what_is_marked_as_the_matches_are_is_right() -> None:
    assert marked("read", reads=(True, True)) == []
    assert marked("read", "unread", reads=(False, False)) == []
    assert marked(reads=(True, False)) == []


def test_a_read_mark_that_was_undone_or_set_again_may_stand_or_not() -> None:
    assert marked("read", "done", reads=(True, False)) == []
    assert marked("read", "undo", reads=(True, False)) == []
    assert marked("read", reads=(False, False), at=BEGIN + HOUR) == []


@pytest.mark.parametrize("reads", [(True, False), (False, False)])
def test_a_mark_that_is_not_in_all_filters_is_found(reads: tuple[bool, bool]) -> None:
    assert any("marked m1 read" in finding for finding in marked("read", reads=reads))


def test_a_mark_that_was_taken_back_and_stays_is_found() -> None:
    assert any("unread" in one for one in marked("read", "unread", reads=(True, True)))


def tagged(*said: Any, is_set: bool, shown: tuple[str, ...] = (), then: Any = None) -> list[str]:
    """Return what is found if alice sets, or clears, a keyword, and these rows come of it."""
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.size = 1")
    story.mail(BEGIN, {"msgid": "m1"})
    story.match(1, "m1", BEGIN)
    told = {"table": "annotations", "origin": "keyword"}
    for row in said:
        story.tell("submitted", rows=[row], **told)
        story.stored["annotations"].append({**row, "ts": BEGIN + 1})
    act = {"person": "alice", "kind": "keyword", "msgids": ["m1"], "status": 200}
    story.tell("act", tag="later", is_set=is_set, **act)
    for row in then or ():
        story.tell("submitted", rows=[row], **told | {"origin": "page"})
        story.stored["annotations"].append({**row, "ts": BEGIN + 2})
    story.settle(BEGIN + HOUR)
    look = {"person": "alice", "mailbox": "INBOX", "page": "inbox", "name": ""}
    rows = [[1, "m1", "public", False, False, list(shown)]]
    story.tell("seen", kind="imap", **look, uid_validity=7, next_uid=2, rows=rows)
    return [str(finding) for finding in judge(story.entries) if finding.law == "marks"]


def test_keywords_that_are_tags_of_their_person_are_right() -> None:
    assert tagged(TAG, is_set=True, shown=("later",)) == []
    assert tagged(TAG, CLEARED, is_set=False) == []
    assert tagged(TAG, is_set=True, then=[CLEARED]) == [], "it was taken back on a page since"


@pytest.mark.parametrize(
    ("said", "is_set", "shown", "finding"),
    [
        ([], True, (), "m1 has not the tag later, which alice has set"),
        ([TAG], False, ("later",), "m1 has the tag later, which alice has cleared"),
        ([TAG | {"audience": "public"}], True, ("later",), "set the keyword Later for public"),
        ([TAG], True, (), "m1 has the keywords [] for alice, and the tags ['later']"),
        ([], False, ("x",), "m1 has the keywords ['x'] for alice, and the tags []"),
    ],
)
def test_each_fault_of_keywords_is_found(
    said: list[Any], is_set: bool, shown: tuple[str, ...], finding: str
) -> None:
    assert any(finding in one for one in tagged(*said, is_set=is_set, shown=shown))
