"""The auditor finds nothing in right pages of conversations, and each corruption of one."""

import pytest

from tests.simulation.auditor import judge
from tests.simulation.stories import Story

DAY = 86_400_000_000
HOUR = DAY // 24
BEGIN = 20_000 * DAY


def right_story() -> Story:
    """A filter of everything: two threads, of which one has an answer, and a shelf."""
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.size = 1")
    story.mail(BEGIN, {"msgid": "m1"}, {"msgid": "m2"})
    story.mail(BEGIN + 3 * HOUR, {"msgid": "m3"})
    story.mail(BEGIN + 6 * HOUR, {"msgid": "r", "inreplyto": "m1", "references": ["m1"]})
    for msgid, at in (("m1", 0), ("m2", 0), ("m3", 3), ("r", 6)):
        story.match(1, msgid, BEGIN + at * HOUR)
    story.settle(BEGIN + 7 * HOUR)
    story.lines("alice", "inbox", "", ("m1 r", True), ("m3", True), ("m2", True))
    for msgid in ("m1", "r"):
        story.now += 60_000_000
        told = {"person": "alice", "kind": "star", "msgids": [msgid], "status": 302}
        story.tell("act", **told, step_made=[f"step {msgid}"])
    story.settle(BEGIN + 8 * HOUR)
    story.lines("alice", "shelf", "starred", ("m1 r", True))
    return story


def found(story: Story) -> list[str]:
    return [str(finding) for finding in judge(story.entries)]


def test_nothing_is_found_in_right_lines() -> None:
    assert found(right_story()) == []


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        ([("m1 r", True), ("m3", True)], "lacks m2"),
        ([("r", True), ("m3", True), ("m2", True)], "lacks m1"),
        ([("r", True), ("m3", True), ("m2", True), ("m1", True)], "in two lines"),
        ([("m1 r", True), ("m2 m3", True)], "of two threads"),
        ([("m3", True), ("m1 r", True), ("m2", True)], "out of order"),
        ([("m1 r", True), ("m3", True), ("m2", True), ("m2", True)], "repeats m2"),
        ([("m1 r", True), ("m3", True), ("m2 m9", True)], "shows m9"),
        ([("m1 r", False), ("m3", True), ("m2", True)], "is read"),
    ],
)
def test_wrong_lines_are_found(lines: list[tuple[str, bool]], wrong: str) -> None:
    story = right_story()
    page = next(entry for entry in story.entries if entry.get("page") == "inbox")
    page["lines"] = [[msgids.split(), unread] for msgids, unread in lines]
    assert any(wrong in finding for finding in found(story))
