"""The auditor follows the life of a filter: edits, pauses, groups, modes, and what is forgotten."""

import copy

import pytest

from tests.simulation.auditor import judge
from tests.simulation.stories import Story, rows_of

REPLIED = "EXISTS (r: r.inreplyto = m.msgid)"
VOTED = "EXISTS (a IN annotations: a.msgid = m.msgid AND a.kind = 'vote')"


def found(story):
    return [str(finding) for finding in judge(story.entries)]


def test_another_text_keeps_what_the_older_one_has_found_up_to_the_change():
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.subject = 'a'")
    story.mail(5, {"msgid": "a1", "subject": "a"}, {"msgid": "b1", "subject": "b"})
    story.now = 7
    story.change(1, "edit", tql="m.subject = 'b'", t0=7)
    story.mail(9, {"msgid": "a2", "subject": "a"}, {"msgid": "b2", "subject": "b"})
    story.match(1, "a1", 5)
    story.match(1, "b2", 9)
    story.settle(20)
    assert found(story) == []
    story.matches[1:] = []
    story.settle(21)
    assert "b2 matched at" in found(story)[0]
    for wrong, at in (("a2", 9), ("b1", 5)):
        other = copy.deepcopy(story)
        rows_of(other, "matches", 0).append({**story.matches[0], "msgid": wrong, "matched_at": at})
        assert f"{wrong} is there" in found(other)[0]


def test_a_filter_that_forgets_what_it_found_begins_as_if_it_were_new():
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.subject = 'a'")
    story.mail(5, {"msgid": "a1", "subject": "a"}, {"msgid": "b1", "subject": "b"})
    story.match(1, "a1", 5)
    story.settle(6)
    story.change(1, "edit", tql="m.subject = 'b'", forget=True)
    story.matches.clear()
    story.match(1, "b1", 5)
    story.settle(20)
    assert found(story) == []


def test_a_paused_filter_keeps_its_watermark_and_goes_on_from_there():
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.subject = 'a'")
    story.mail(5, {"msgid": "a1", "subject": "a"})
    story.match(1, "a1", 5)
    story.settle(6)
    story.change(1, "pause", active=False)
    story.mail(8, {"msgid": "a2", "subject": "a"})
    story.settle(10, f1={"active": False, "since": 6})
    story.change(1, "resume", active=True)
    story.match(1, "a2", 8)
    story.settle(20)
    assert found(story) == []
    rows_of(story, "matches").pop()
    assert "a2 matched at" in found(story)[0]


def grouped_story():
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "NOT EXISTS (r: r.inreplyto = m.msgid) AND m.subject = 'a'")
    story.mail(5, {"msgid": "a1", "subject": "a"})
    story.mail(5, {"msgid": "r", "inreplyto": "a1", "audience": "group:x"})
    story.mail(5, {"msgid": "g", "subject": "a", "audience": "group:x"})
    story.match(1, "a1", 5)
    story.settle(6)
    story.person("alice", "x")
    story.match(1, "g", 5, audience="group:x")
    story.settle(10)
    story.person("alice")
    return story


def test_who_joins_a_group_finds_its_mail_and_who_leaves_it_loses_it():
    story = grouped_story()
    story.matches.pop()
    story.settle(20)
    assert found(story) == []


def test_what_nobody_may_see_any_more_is_found_where_it_is_left():
    story = grouped_story()
    story.settle(20)
    assert "g is stored as of group:x, which alice may not see" in found(story)[0]


def test_what_was_found_before_a_group_was_joined_stays():
    story = grouped_story()
    story.matches.clear()
    story.settle(20)
    assert "a1 matched at" in found(story)[0]


def test_a_text_that_waits_to_be_run_is_run_for_the_group_that_was_joined_meanwhile():
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.subject = 'a'", active=False)
    story.mail(5, {"msgid": "g", "subject": "a", "audience": "group:x"})
    story.settle(6, f1={"active": False, "since": 0})
    story.now = 8
    story.change(1, "mail", t0=8)
    story.person("alice", "x")
    story.change(1, "resume", active=True)
    story.match(1, "g", 5, audience="group:x")
    story.settle(20)
    assert found(story) == []
    rows_of(story, "matches")[0]["matched_at"] = 6
    assert "g is there with matched_at" in found(story)[0]


def test_what_came_to_a_live_list_and_left_it_unseen_is_kept_as_of_then():
    story = Story()
    story.person("bob")
    story.filter(1, "bob", VOTED, live=True)
    story.mail(5, {"msgid": "q"})
    story.settle(6)
    for at, note in ((8, "v"), (12, "w")):
        story.notes(at, {"annid": note, "msgid": "q", "owner": "bob"})
        back = {"annid": f"{note}0", "kind": "retraction", "value": note}
        story.notes(at + 1, {"msgid": "q", "owner": "bob", **back})
    story.match(1, "q", 12)
    story.now = 15
    story.change(1, "mode", live=False)
    story.settle(20)
    assert found(story) == []
    rows_of(story, "matches")[0]["matched_at"] = 11
    assert "matched at" in found(story)[0]


def test_what_was_found_ahead_of_the_wall_clock_before_a_group_was_joined_stays():
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "NOT EXISTS (r: r.inreplyto = m.msgid)")
    story.mail(5, {"msgid": "a1"}, {"msgid": "r", "inreplyto": "a1", "audience": "group:x"})
    story.match(1, "a1", 5)
    story.person("alice", "x")
    assert story.now < 5
    story.match(1, "r", 5, audience="group:x")
    story.settle(10)
    assert found(story) == []


def test_a_live_filter_that_keeps_from_now_on_has_all_that_it_ever_had():
    story = Story()
    story.person("bob")
    story.filter(1, "bob", VOTED, live=True)
    story.mail(5, {"msgid": "q"})
    story.notes(9, {"annid": "v", "msgid": "q", "owner": "bob"})
    row = story.match(1, "q", 9)
    story.settle(10)
    story.notes(
        12, {"annid": "w", "msgid": "q", "owner": "bob", "kind": "retraction", "value": "v"}
    )
    row |= {"retracted_at": 12, "sequence": 2}
    story.settle(14)
    story.change(1, "mode", live=False)
    row |= {"retracted_at": None, "sequence": 3}
    story.settle(20)
    assert found(story) == []


def test_what_is_forgotten_is_gone_with_its_matches_and_nothing_else_is():
    story = Story()
    story.person("alice", "x")
    story.filter(1, "alice", "m.subject = 'a'")
    story.mail(
        5, {"msgid": "a1", "subject": "a"}, {"msgid": "g1", "subject": "a", "audience": "group:x"}
    )
    story.match(1, "a1", 5)
    story.match(1, "g1", 5, audience="group:x")
    story.settle(6)
    story.tell("upkeep", kind="forget", audience="group:x", before=None)
    story.stored["messages"].pop()
    story.matches.pop()
    story.settle(20)
    assert found(story) == []
    rows_of(story, "rows", table="messages").clear()
    assert any("is gone from messages" in sentence for sentence in found(story))


def test_what_was_found_by_mail_that_is_forgotten_may_stay_and_what_came_later_may_not():
    story = Story()
    story.person("alice", "x")
    reply = {"msgid": "r", "inreplyto": "a1", "audience": "group:x"}
    story.filter(1, "alice", REPLIED)
    story.mail(5, {"msgid": "a1"}, reply)
    row = story.match(1, "a1", 5)
    story.now = 8
    story.tell("upkeep", kind="forget", audience="group:x", before=None)
    story.stored["messages"].pop()
    story.settle(20)
    assert found(story) == []
    row["stored_at"] = row["shown_at"] = 9
    rows_of(story, "matches")[0].update(row)
    assert "a1 is there with matched_at" in found(story)[0]


def test_what_a_backup_brings_back_was_judged_when_it_was_found():
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.subject = 'a'")
    story.mail(5, {"msgid": "a1", "subject": "a"})
    story.match(1, "a1", 5)
    story.settle(6)
    story.change(1, "edit", tql="m.subject = 'b'", t0=7)
    story.settle(8)
    story.change(1, "mail", forget=True)
    kept = story.matches.copy()
    story.matches.clear()
    story.settle(10)
    story.tell("upkeep", kind="restore")
    story.change(1, "restored")
    story.matches += kept
    story.settle(20)
    assert found(story) == []
    rows_of(story, "matches")[0]["stored_at"] = 15
    assert "a1 is there with matched_at" in found(story)[0]


@pytest.mark.parametrize("matched", [[], ["a1"], ["b1"]])
def test_an_older_text_that_waits_with_a_paused_filter_may_be_run_after_a_restore(matched):
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.subject = 'a'")
    story.settle(4)
    story.change(1, "pause", active=False)
    story.mail(5, {"msgid": "a1", "subject": "a"}, {"msgid": "b1", "subject": "b"})
    story.now = 7
    story.change(1, "edit", tql="m.subject = 'c'", t0=7)
    story.tell("upkeep", kind="restore")
    story.change(1, "restored")
    story.settle(10, f1={"active": False, "since": 7})
    story.change(1, "resume", active=True)
    for msgid in matched:
        story.match(1, msgid, 5).update(stored_at=12, shown_at=12)
    story.settle(15)
    wrong = any("b1 is there with matched_at" in said for said in found(story))
    assert wrong == ("b1" in matched) == bool(found(story))


def test_old_mail_that_was_to_be_forgotten_is_found_where_it_is_left():
    story = Story()
    story.person("alice", "x")
    for ts, msgid in ((5, "g1"), (8, "g2")):
        story.mail(ts, {"msgid": msgid, "audience": "group:x"})
    story.settle(9)
    story.tell("upkeep", kind="forget", audience="group:x", before=8)
    story.stored["messages"].pop(0)
    story.settle(20)
    assert found(story) == []
    rows_of(story, "rows", table="messages").append(rows_of(story, "rows", 0, table="messages")[0])
    assert any("was to be forgotten" in sentence for sentence in found(story))


def test_a_forged_copy_is_there_beside_the_first_and_the_same_message_once():
    story = Story()
    story.mail(5, {"msgid": "a1", "body": "at noon"})
    story.mail(7, {"msgid": "a1", "body": "at one", "copy": True})
    story.stored["messages"][1]["msgid"] += " copy:" + "0" * 32
    story.mail(9, {"msgid": "a1", "body": "> at\n> noon"})
    story.stored["messages"].pop()
    story.settle(20)
    assert found(story) == []
    rows_of(story, "rows", table="messages").pop()
    assert "came with 2 contents, and 1 are" in found(story)[0]


def test_what_a_live_list_had_by_an_older_text_stays_as_it_becomes_one_that_keeps():
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.subject = 'a'", live=True)
    story.mail(5, {"msgid": "a1", "subject": "a"}, {"msgid": "b1", "subject": "b"})
    story.match(1, "a1", 5)
    story.now = 7
    story.change(1, "edit", tql="m.subject = 'b'")
    story.change(1, "mode", live=False)
    story.match(1, "b1", 5)
    story.settle(20)
    assert found(story) == []
    story.matches[0]["msgid"] = "c1"
    story.settle(21)
    assert any("c1 is there" in said for said in found(story))


def test_what_had_left_a_live_list_is_not_found_anew_as_it_becomes_one_that_keeps():
    story = Story()
    story.person("bob")
    story.filter(1, "bob", VOTED, live=True)
    story.mail(5, {"msgid": "q"})
    story.notes(9, {"annid": "v", "msgid": "q", "owner": "bob"})
    row = story.match(1, "q", 9)
    story.notes(
        12, {"annid": "w", "msgid": "q", "owner": "bob", "kind": "retraction", "value": "v"}
    )
    row |= {"retracted_at": 12, "sequence": 2}
    story.settle(14)
    story.change(1, "mode", live=False)
    row |= {"retracted_at": None, "sequence": 3}
    story.settle(20)
    assert found(story) == []
    rows_of(story, "matches")[0]["key"] = 77
    assert "is found anew" in found(story)[0]
