"""The auditor finds what was set aside, what was taken back too much, and words without meaning."""

import pytest

from tests.simulation.auditor import judge
from tests.simulation.stories import Story

FAILED = {"kind": "index", "key": "annotations any -", "error_class": "KeyError", "first_at": 5}


def found(story):
    return [str(finding) for finding in judge(story.entries)]


def one_story(*entries):
    story = Story()
    story.person("alice")
    story.mail(5, {"msgid": "m1"})
    for what, fields in entries:
        story.tell(what, **fields)
    return story


def settled(story, now, attempts):
    story.settle(now)
    story.tell("seen", kind="asides", rows=[{**FAILED, "attempts": attempts}])


def test_nothing_is_set_aside():
    story = one_story()
    settled(story, 6, attempts=1)
    assert "index annotations any - was set aside, for KeyError" in found(story)[0]


def test_what_was_planned_may_be_set_aside_and_is_not_tried_in_vain():
    story = one_story(("fault", {"kind": "fired broken"}))
    settled(story, 6, attempts=1)
    settled(story, 7, attempts=1)
    assert found(story) == []
    settled(story, 8, attempts=2)
    assert len(found(story)) == 1


@pytest.mark.parametrize(("kind", "wrong"), [("step", 0), ("filter", 1)])
def test_a_step_of_which_a_write_failed_may_be_set_aside(kind, wrong):
    story = one_story(("fault", {"kind": "fired io_error"}))
    story.settle(6)
    story.tell("seen", kind="asides", rows=[{**FAILED, "kind": kind, "attempts": 1}])
    assert len(found(story)) == wrong


def tags(*taken_back, take_back="b"):
    """Somebody has tagged a message with a and b, and takes one of them back."""
    story = one_story()
    about = {"msgid": "m1", "owner": "alice", "audience": "public", "number": None}
    said = [{**about, "annid": value, "kind": "tag", "value": value} for value in ("a", "b")]
    back = {"kind": "retraction", **about}
    said += [{**back, "annid": f"not {value}", "value": value} for value in taken_back]
    story.notes(8, *said)
    story.entries[-1] |= {"origin": "page"}
    sent, kept = {"kind": "tag", "take_back": take_back}, len(taken_back)
    act = {"person": "alice", "kind": "tag", "msgids": ["m1"], "sent": sent, "kept": kept}
    story.tell("act", status=302, **act)
    story.settle(9)
    return story


def test_who_takes_back_one_tag_takes_back_no_other():
    assert found(tags("b")) == []
    assert "alice took back b of m1, and a went with it" in found(tags("a", "b"))[0]


def test_a_phrase_says_what_its_tql_says():
    vote = "EXISTS (a2 IN annotations: a2.msgid = m.msgid AND a2.number {} 0)"
    for sign, wrong in (("<", False), (">", True)):
        story = one_story()
        story.filter(1, "alice", vote.format(sign), text="voted against by Jones")
        story.settle(6)
        assert bool(found(story)) is wrong, found(story)
