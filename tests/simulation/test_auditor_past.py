"""The auditor finds nothing in what is rightly told of the past and of filters, and each slip."""

import pytest

from tests.simulation.auditor import judge
from tests.simulation.stories import Story

BEGIN = 20_000 * 86_400_000_000
TQL = "m.subject = 'b'"


def told(was, matches, **between):
    """Return what is found where a list is told as it ``was``, and that a message matches."""
    story = Story()
    story.person("alice")
    story.filter(1, "alice", TQL, name="b")
    story.mail(BEGIN, {"msgid": "m1", "subject": "b"}, {"msgid": "m2", "subject": "c"})
    story.match(1, "m1", BEGIN)
    story.settle(BEGIN + 7)
    story.page("alice", "inbox", "", "m1")
    story.now = BEGIN + 9
    if between:
        story.tell(**between)
    story.settle(BEGIN + 20)
    place = {"person": "alice", "page": "inbox", "name": "", "at": BEGIN + 7}
    story.tell("seen", kind="as_of", **place, msgids=was)
    for msgid, is_said in zip(("m1", "m2"), matches, strict=True):
        story.tell("seen", kind="why", person="alice", tql=TQL, msgid=msgid, matches=is_said)
    return [str(finding) for finding in judge(story.entries)]


def test_nothing_is_found_in_what_is_right():
    assert told(["m1"], (True, False)) == []


@pytest.mark.parametrize(
    ("was", "matches", "said"),
    [
        ([], (True, False), "as of"),
        (["m1", "m2"], (True, False), "shows m1, m2, and it was m1"),
        (["m1"], (False, False), "is told that m1 does not match"),
        (["m1"], (True, True), "is told that m2 matches"),
    ],
)
def test_each_slip_is_found(was, matches, said):
    assert any(said in sentence for sentence in told(was, matches))


def test_what_the_record_does_not_keep_is_not_judged():
    assert told([], (True, False), what="filter_changed", how="delete", key=9) == []
