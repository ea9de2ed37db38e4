"""Positions of matches, and what people say on pages, as the auditor judges them."""

from __future__ import annotations

import pytest

from tests.simulation.auditor import judge
from tests.simulation.auditor.findings import Finding
from tests.simulation.stories import Story

HOUR = 3_600_000_000
MINUTE = HOUR // 60


def findings(story: Story, law: str) -> list[Finding]:
    return [finding for finding in judge(story.entries) if finding.law == law]


def matched(*msgids: str) -> Story:
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.size > 0")
    story.mail(10, *({"msgid": msgid} for msgid in msgids))
    for msgid in msgids:
        story.match(1, msgid, 10)
    return story


def test_two_matches_have_no_position_in_common() -> None:
    story = matched("a", "b")
    story.settle(20)
    assert not findings(story, "releases")
    story.matches[1]["sequence"] = story.matches[0]["sequence"]
    story.settle(30)
    assert findings(story, "releases")


def test_a_match_is_not_released_before_it_is_shown() -> None:
    story = matched("a")
    story.matches[0]["shown_at"] = 1000
    story.settle(20)
    assert findings(story, "releases")
    story.settle(1000)
    assert len(findings(story, "releases")) == 1


def test_what_was_released_is_due_until_it_is_sent() -> None:
    story = matched("a")
    story.matches.clear()
    story.position = 0
    story.destination(5, "alice", "webhook")
    story.match(1, "a", 10)
    story.settle(20)
    assert not findings(story, "releases")
    for look in story.entries:
        if look.get("kind") == "destinations":
            look["rows"][0]["cursor"] = 0
    assert findings(story, "releases")


def said(story: Story, annid: str, number: float, audience: str = "public", **sent: str) -> None:
    row = {"annid": annid, "msgid": "a", "owner": "alice", "kind": "vote", "value": None}
    row |= {"number": number, "audience": audience}
    story.tell("submitted", table="annotations", rows=[row], origin="page")
    story.stored["annotations"].append({**row, "ts": story.now + 1})
    sent = {"id": "a", "kind": "vote", **sent}
    told = {"person": "alice", "kind": "vote", "msgids": ["a"]}
    story.tell("act", **told, sent=sent, kept=1, status=302)


def test_one_vote_of_each_stands() -> None:
    story = matched("a")
    said(story, "1", 1.0)
    story.settle(20)
    assert not findings(story, "opinions")
    said(story, "2", -1.0)
    story.settle(30)
    assert findings(story, "opinions")


def test_what_is_said_in_private_is_for_nobody_else() -> None:
    story = matched("a")
    said(story, "1", 1.0, private="vote")
    story.settle(20)
    assert findings(story, "opinions")
    story = matched("a")
    said(story, "1", 1.0, audience="user:alice", private="vote")
    story.settle(20)
    assert not findings(story, "opinions")


def test_what_is_taken_back_is_so_for_those_to_whom_it_was_said() -> None:
    for audience, is_wrong in (("user:alice", False), ("public", True)):
        story = matched("a")
        said(story, "1", 1.0, audience="user:alice", private="vote")
        row = {"annid": "2", "msgid": "a", "owner": "alice", "kind": "retraction"}
        row |= {"value": "1", "number": None, "audience": audience}
        story.tell("submitted", table="annotations", rows=[row], origin="page")
        story.settle(20)
        assert bool(findings(story, "opinions")) == is_wrong


def test_a_delivery_waits_for_a_reason_alone() -> None:
    story = matched("a")
    story.destination(5, "alice", "webhook")
    story.settle(20)
    (look,) = (entry for entry in story.entries if entry.get("kind") == "destinations")
    (state,) = look["rows"]
    state["due_at"] = HOUR
    assert findings(story, "put off")
    state["failures"] = 1
    assert findings(story, "put off")
    state["failures"] = 8
    assert not findings(story, "put off")


def test_a_delivery_waits_until_its_owners_rest_is_over() -> None:
    for until, is_wrong in ((7 * HOUR, False), (9 * HOUR, True)):
        story = matched("a")
        story.person("alice", quiet_from=0, quiet_to=7 * 60, time_zone="UTC")
        story.destination(5, "alice", "webhook")
        story.settle(20)
        (look,) = (entry for entry in story.entries if entry.get("kind") == "destinations")
        look["rows"][0]["due_at"] = until
        assert bool(findings(story, "put off")) == is_wrong


@pytest.mark.parametrize(
    ("status", "minute", "said"),
    [
        *((302, 6, ""), (302, 60, "its owner has asked to be shown it")),
        *((404, 6, "is to be shown at"), (404, 60, ""), (None, 6, ""), (None, 60, "")),
    ],
)
def test_what_waits_is_shown_as_its_owner_asks_for_it(
    status: int | None, minute: int, said: str
) -> None:
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.size = 1", timeliness="hourly")
    story.mail(5 * MINUTE, {"msgid": "m1"})
    match = story.match(1, "m1", 5 * MINUTE, shown_at=HOUR, sequence=None)
    story.settle(5 * MINUTE + 1)
    story.now = 6 * MINUTE
    story.tell("shown_now", person="alice", filter=1, status=status)
    match.update(shown_at=minute * MINUTE, sequence=1 if minute == 6 else None)
    story.settle(7 * MINUTE)
    sentences = [str(finding) for finding in judge(story.entries)]
    assert said in sentences[0] if said else sentences == []


@pytest.mark.parametrize(("shown_at", "is_right"), [(HOUR, True), (2 * HOUR, False)])
def test_what_came_back_and_left_unseen_has_the_instants_of_its_first_stay(
    shown_at: int, is_right: bool
) -> None:
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.size = 1", live=True, timeliness="hourly")
    story.mail(5 * MINUTE, {"msgid": "m1"})
    match = story.match(1, "m1", 5 * MINUTE, shown_at=HOUR)
    story.settle(HOUR + 1)
    story.filter(1, "alice", "m.size = 1", live=True, timeliness="weekly on Saturday at 08:00")
    match.update(matched_at=2 * HOUR, stored_at=2 * HOUR, shown_at=56 * HOUR, sequence=None)
    story.settle(2 * HOUR + 1)
    left = {"matched_at": 5 * MINUTE, "stored_at": 5 * MINUTE, "retracted_at": HOUR + 2}
    match.update(**left, shown_at=shown_at, sequence=2)
    story.settle(3 * HOUR)
    found = [str(finding) for finding in judge(story.entries) if "is to be shown" in str(finding)]
    assert found == [] if is_right else len(found) == 1
