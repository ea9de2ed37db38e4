"""The auditor over forgetting, restores, refusals and people who leave: what may be, no more."""

import copy

import pytest

from tests.simulation.auditor import judge
from tests.simulation.stories import Story, rows_of

HOUR = 3_600_000_000
TOP = "m NOT IN TOP 1 BY COUNT(r: r.inreplyto = m.msgid)"


def found(story):
    return [str(finding) for finding in judge(story.entries)]


def one_message():
    story = Story()
    story.person("alice", "x")
    story.filter(1, "alice", "m.subject = 'a'")
    story.mail(5, {"msgid": "a1", "subject": "a"})
    story.match(1, "a1", 5)
    story.settle(6)
    return story


def test_a_backup_may_bring_back_what_was_forgotten_since():
    story = one_message()
    kept, matches = copy.deepcopy(story.stored), story.matches.copy()
    story.tell("upkeep", kind="forget", audience="public", before=None)
    story.stored["messages"].clear()
    story.matches.clear()
    story.settle(10)
    story.stored, story.matches = kept, matches
    other = copy.deepcopy(story)
    story.tell("upkeep", kind="restore")
    story.settle(20)
    assert found(story) == []
    other.settle(20)
    assert any("was never given so" in sentence for sentence in found(other))


def test_an_edit_that_was_refused_forgets_nothing():
    story = one_message()
    story.change(1, "edit", forget=True, same=False, revision=5, status=400)
    story.settle(20)
    assert found(story) == []
    rows_of(story, "matches").clear()
    assert "a1 matched at" in found(story)[0]


def test_an_edit_that_failed_after_it_was_committed_has_forgotten():
    story = one_message()
    story.change(1, "edit", forget=True, same=False, t0=11, status=400)
    story.matches.clear()
    story.settle(20)
    assert found(story) == []


def test_the_filters_of_somebody_who_has_left_are_gone():
    story = one_message()
    story.person("alice", removed=True)
    story.tell("filter_changed", key=1, how="delete")
    story.filters.clear()
    story.matches.clear()
    story.settle(20)
    assert found(story) == []


def test_what_came_after_old_mail_was_forgotten_is_found_as_ever():
    story = one_message()
    story.tell("upkeep", kind="forget", audience="group:x", before=3)
    story.settle(8)
    story.mail(10, {"msgid": "a2", "subject": "a"})
    story.match(1, "a2", 10)
    story.settle(20)
    assert found(story) == []
    rows_of(story, "matches").pop()
    assert "a2 matched at" in found(story)[0]


def test_a_rank_that_others_lost_by_a_forgetting_is_no_event():
    story = Story()
    story.person("alice", "x")
    story.filter(1, "alice", TOP)
    story.mail(5, {"msgid": "a1"}, {"msgid": "a2"}, {"msgid": "r", "inreplyto": "a1"})
    for msgid in ("a2", "r"):
        story.match(1, msgid, 5)
    story.settle(6)
    assert found(story) == []
    story.mail(8, {"msgid": "r2", "inreplyto": "a2"}, {"msgid": "r3", "inreplyto": "a2"})
    story.now = 9
    story.tell("upkeep", kind="forget", audience="public", before=7)
    del story.stored["messages"][:3]
    story.matches.clear()
    for msgid in ("r2", "r3"):
        story.match(1, msgid, 8)
    story.settle(20)
    assert found(story) == []


def test_who_chooses_quiet_hours_rests_from_then_on():
    story = one_message()
    story.destination(1, "alice", "forward")
    story.now = 13 * HOUR
    story.mail(story.now + 1, {"msgid": "a2", "subject": "a"})
    row = story.match(1, "a2", story.now + 1)
    story.forwarded(1, row["sequence"], "a2")
    other = copy.deepcopy(story)
    story.now += 1
    story.person("alice", "x", quiet_from=12 * 60, quiet_to=14 * 60)
    story.settle(15 * HOUR)
    assert found(story) == []
    other.entries[0] |= {"quiet_from": 12 * 60, "quiet_to": 14 * 60}
    other.settle(15 * HOUR)
    assert any("while alice rests" in sentence for sentence in found(other))


def test_what_a_forgetting_made_match_may_have_been_found_before_its_owner_left_a_group():
    for is_cut in (True, False):
        story = Story()
        story.person("alice", "x")
        story.filter(1, "alice", "m IN TOP 1 BY COUNT(r: r.inreplyto = m.msgid)")
        story.mail(5, {"msgid": "a1"}, {"msgid": "a2"}, {"msgid": "r3", "inreplyto": "a2"})
        story.mail(5, *({"msgid": msgid, "inreplyto": "a1"} for msgid in ("r1", "r2")))
        story.match(1, "a1", 5)
        story.settle(6)
        if is_cut:
            story.tell("upkeep", kind="forget", audience="public", before=3)
        gone = ("a1", "r1", "r2")
        rows = story.stored["messages"]
        rows[:] = [row for row in rows if row["msgid"] not in gone]
        story.matches.clear()
        story.settle(8)
        story.match(1, "a2", 12)
        story.person("alice")
        story.settle(20)
        assert any("a2 is there" in sentence for sentence in found(story)) != is_cut


@pytest.mark.parametrize("groups", [("x",), ()])
def test_what_was_found_in_a_group_stays_though_that_is_forgotten_once_its_owner_left(groups):
    story = Story()
    story.person("alice", *groups)
    story.filter(1, "alice", "EXISTS (a IN annotations: a.msgid = m.msgid AND a.kind = 'vote')")
    story.mail(5, {"msgid": "a1"})
    story.settle(6)
    vote = {"annid": "v1", "msgid": "a1", "kind": "vote", "audience": "group:x"}
    story.notes(8, vote)
    story.match(1, "a1", 8)
    story.now = 9
    story.person("alice")
    story.tell("upkeep", kind="forget", audience="group:x", before=None)
    story.stored["annotations"].clear()
    story.settle(20)
    assert any("a1 is there" in sentence for sentence in found(story)) is not bool(groups)
