"""The auditor finds nothing in right searches and feeds, and each corruption of one."""

import copy

import pytest

from tests.simulation.auditor import judge
from tests.simulation.stories import Story

BEGIN = 20_000 * 86_400_000_000
TQL = "m.size = 1"


def right_story():
    """A filter of everything: three messages, one of them of a group, and one that has left."""
    story = Story()
    story.person("alice")
    story.person("bob", "x")
    story.filter(1, "alice", TQL, name="all")
    story.filter(2, "alice", "m.subject = 'b'", name="b")
    story.mail(BEGIN, {"msgid": "m1", "subject": "b"}, {"msgid": "g1", "audience": "group:x"})
    story.mail(BEGIN + 3, {"msgid": "m2"})
    for key, msgid, at in ((1, "m1", 0), (2, "m1", 0), (1, "m2", 3)):
        story.match(key, msgid, BEGIN + at)
    story.settle(BEGIN + 7)
    story.page("alice", "search", TQL, "m2", "m1")
    story.page("bob", "search", TQL, "m2", "g1", "m1")
    story.page("alice", "feed", "", "m2", "m1", "m1")
    story.page("alice", "feed", "b", "m1")
    return story


def found(story):
    return [str(finding) for finding in judge(story.entries)]


def test_nothing_is_found_in_what_is_right():
    assert found(right_story()) == []


SEARCH, OF_BOB, FEED, FEED_OF_ONE = -4, -3, -2, -1
WRONG = {
    "one too few": (SEARCH, ["m2"], "does not find m1"),
    "one twice": (SEARCH, ["m2", "m2", "m1"], "finds a message twice"),
    "the oldest first": (SEARCH, ["m1", "m2"], "finds it out of order"),
    "mail of others": (SEARCH, ["m2", "m1", "g1"], "finds g1, which does not match"),
    "not their group": (OF_BOB, ["m2", "m1"], "does not find g1"),
    "lost by a feed": (FEED, ["m1", "m1"], "has m2 0 times, and not 1 times"),
    "twice by a feed": (FEED_OF_ONE, ["m1", "m1"], "has m1 2 times, and not 1 times"),
    "of another filter": (FEED_OF_ONE, ["m1", "m2"], "has m2 1 times, and not 0 times"),
}


@pytest.mark.parametrize("case", WRONG)
def test_each_corruption_is_found(case):
    place, msgids, said = WRONG[case]
    story = copy.deepcopy(right_story())
    story.entries[place]["msgids"] = msgids
    assert any(said in sentence for sentence in found(story))


def test_a_message_is_there_for_those_who_may_see_it_and_for_nobody_else():
    for person, msgid, there in (
        ("alice", "m1", True),
        ("alice", "g1", False),
        ("bob", "g1", True),
    ):
        story = right_story()
        for status in (302, 404):
            story.tell("seen", kind="letter", person=person, msgid=msgid, status=status)
        assert [f"it answers {404 if there else 302}" in one for one in found(story)] == [True]


def test_what_a_backup_brings_back_is_found_again():
    story = Story()
    story.person("alice")
    story.mail(BEGIN, {"msgid": "m1"})
    story.mail(BEGIN + 3, {"msgid": "m2"})
    stored = story.stored["messages"]
    for there, names in ((stored, "m2 m1"), (stored[1:], "m2"), (stored, "m2 m1")):
        story.stored["messages"] = there
        if names == "m2":
            story.tell("upkeep", kind="forget", audience="public", before=BEGIN + 1)
        elif len(story.entries) > 9:
            story.tell("upkeep", kind="restore")
        story.settle(BEGIN + 7)
        story.page("alice", "search", TQL, *names.split())
    assert not [said for said in found(story) if "searches" in said]
