"""The auditor finds nothing in right pages, and each corruption of one."""

import copy

import pytest

from tests.simulation.auditor import judge
from tests.simulation.stories import Story

DAY = 86_400_000_000
HOUR = DAY // 24
BEGIN = 20_000 * DAY


def right_story():
    """A filter of everything, and what its owner did with some of it over three days."""
    story = Story()
    story.person("alice", time_zone="America/New_York")
    story.filter(1, "alice", "m.size = 1")
    story.filter(2, "alice", "m.subject = 'b'", name="b")
    story.mail(BEGIN, {"msgid": "m1", "subject": "b"}, {"msgid": "m2", "received": BEGIN - DAY})
    story.mail(BEGIN + 3 * HOUR, {"msgid": "m3"})
    story.mail(BEGIN + 5 * HOUR, {"msgid": "m4", "received": BEGIN, "subject": "b"})
    story.mail(BEGIN + 6 * HOUR, {"msgid": "r", "inreplyto": "m1", "references": ["m1"]})
    for key, msgid, at in (
        *((1, "m1", 0), (1, "m2", 0), (1, "m3", 3), (1, "m4", 5), (1, "r", 6)),
        *((2, "m1", 0), (2, "m4", 5)),
    ):
        story.match(key, msgid, BEGIN + at * HOUR)
    story.settle(BEGIN + 7 * HOUR)
    # In New York another day begins at 04:00 UTC.
    story.page("alice", "inbox", "", "r", "m4", "m3", "m1", "m2")
    story.page("alice", "filter", "b", "m4", "m1")
    for kind, msgid in (("star", "m2"), ("star", "m3"), ("done", "m3"), ("snooze", "m4")):
        story.now += 60_000_000
        act(story, kind, msgid)
    story.settle(BEGIN + 8 * HOUR)
    story.page("alice", "inbox", "", "r", "m1", "m2")
    story.page("alice", "filter", "b", "m1")
    story.page("alice", "shelf", "done", "m3")
    story.page("alice", "shelf", "starred", "m3", "m2")
    story.page("alice", "shelf", "snoozed", "m4")
    step = act(story, "mute", "m1")
    story.settle(BEGIN + DAY)
    story.page("alice", "inbox", "", "m2")
    story.page("alice", "filter", "b", "m1")
    story.page("alice", "muted", "", "r", "m1")
    story.tell("act", person="alice", kind="undo", of=step, status=302)
    story.settle(BEGIN + 3 * DAY)
    story.page("alice", "inbox", "", "m4", "r", "m1", "m2")
    story.page("alice", "shelf", "snoozed")
    story.page("alice", "muted", "")
    return story


def act(story, kind, *msgids, status=302):
    step = f"step {len(story.entries)}"
    made = [step] if status == 302 else []
    story.tell("act", person="alice", kind=kind, msgids=list(msgids), status=status, step_made=made)
    return step


def found(story):
    return [str(finding) for finding in judge(story.entries)]


def test_nothing_is_found_in_right_pages():
    assert found(right_story()) == []


def pages(story):
    return [e for e in story.entries if e["what"] == "seen" and e["kind"] == "page"]


def shows(number, *msgids):
    def corrupt(story):
        pages(story)[number]["msgids"] = list(msgids)

    return corrupt


CORRUPTIONS = {
    "one is missing": (shows(0, "r", "m4", "m3", "m1"), "inbox of alice lacks m2"),
    "one is there twice": (shows(0, "r", "m4", "m3", "m1", "m1"), "repeats"),
    "one too many": (shows(0, "r", "m4", "m3", "m1", "m2", "m2"), "repeats"),
    "days are out of order": (shows(0, "m3", "r", "m4", "m1", "m2"), "out of order: m3"),
    "by matching and not by receiving": (shows(0, "m4", "r", "m3", "m1", "m2"), "out of order"),
    "a filter's list has what it did not find": (shows(1, "m4", "m1", "m2"), "shows m2"),
    "what is done is in the inbox": (shows(2, "r", "m3", "m1", "m2"), "shows m3"),
    "what is snoozed is in a list": (shows(3, "m4", "m1"), "b of alice shows m4"),
    "what is done is not on its shelf": (shows(4), "shelf done of alice lacks m3"),
    "a shelf is out of order": (shows(5, "m2", "m3"), "out of order"),
    "a shelf has what is not on it": (shows(6, "m4", "m1"), "shows m1"),
    "a muted thread is in the inbox": (shows(7, "r", "m2"), "shows r"),
    "a filter's list lacks a muted thread": (shows(8), "lacks m1"),
    "what is muted is not where it belongs": (shows(9, "m1"), "muted of alice lacks r"),
    "what came back is where it was": (shows(10, "r", "m4", "m1", "m2"), "out of order"),
    "what was unmuted is not there": (shows(10, "m4", "m1", "m2"), "lacks r"),
    "what came back is snoozed": (shows(11, "m4"), "shows m4"),
    "what was unmuted is muted": (shows(12, "r", "m1"), "muted of alice shows r"),
}


@pytest.mark.parametrize(("corrupt", "said"), CORRUPTIONS.values(), ids=CORRUPTIONS)
def test_each_corruption_is_found(corrupt, said):
    story = copy.deepcopy(right_story())
    corrupt(story)
    assert any(said in sentence for sentence in found(story)), found(story)


def test_what_nobody_knows_is_not_judged():
    story = right_story()
    act(story, "done", "m1", status=None)
    story.settle(BEGIN + 3 * DAY + HOUR)
    first, second = copy.deepcopy(story), copy.deepcopy(story)
    first.page("alice", "inbox", "", "m4", "r", "m1", "m2")
    second.page("alice", "inbox", "", "m4", "r", "m2")
    assert found(first) == found(second) == []
    second.page("alice", "inbox", "", "m4", "r")
    assert found(second)


def test_who_sees_the_same_has_done_what_they_did():
    story = right_story()
    act(story, "done", "m1")
    story.person("alice", time_zone="Asia/Kolkata")
    story.settle(BEGIN + 3 * DAY + HOUR)
    story.page("alice", "inbox", "", "m4", "r", "m1", "m2")
    assert "shows m1" in found(story)[0]
    story.person("alice", "x")
    story.settle(BEGIN + 3 * DAY + 2 * HOUR)
    story.page("alice", "inbox", "", "m4", "r", "m1", "m2")
    assert len(found(story)) == 1


def test_the_rest_of_a_page_is_in_order_whatever_else_belongs_there():
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.size = 1")
    msgids = [f"m{number}" for number in range(60)]
    for number, msgid in enumerate(msgids):
        story.mail(BEGIN + number, {"msgid": msgid})
        story.match(1, msgid, BEGIN + number)
    story.settle(BEGIN + HOUR)
    act(story, "done", "m57", status=None)
    story.settle(BEGIN + HOUR)
    shown = [msgid for msgid in reversed(msgids) if msgid != "m57"][:50]
    story.page("alice", "inbox", "", *shown)
    assert found(story) == []
    story.page("alice", "inbox", "", shown[1], shown[0], *shown[2:])
    assert "is out of order: m58" in found(story)[0]


def test_what_was_refused_was_not_done():
    story = right_story()
    act(story, "done", "m1", status=404)
    story.settle(BEGIN + 3 * DAY + HOUR)
    story.page("alice", "inbox", "", "m4", "r", "m2")
    assert "lacks m1" in found(story)[0]


def test_undo_leaves_what_was_changed_since():
    story = right_story()
    step = act(story, "star", "m1", "r")
    story.now += 1
    act(story, "unstar", "r")
    story.tell("act", person="alice", kind="undo", of=step, status=302)
    story.settle(BEGIN + 3 * DAY + HOUR)
    story.page("alice", "shelf", "starred", "m3", "m2")
    assert found(story) == []


def test_a_message_in_no_list_can_be_starred():
    story = right_story()
    story.mail(BEGIN + 3 * DAY + 1, {"msgid": "x", "size": 2})
    act(story, "star", "x")
    story.settle(BEGIN + 3 * DAY + HOUR)
    story.page("alice", "shelf", "starred", "x", "m3", "m2")
    assert found(story) == []
    story.entries[-1]["msgids"].remove("x")
    assert "lacks x" in found(story)[0]


def test_what_was_changed_since_is_not_undone_though_it_is_as_it_was():
    story = right_story()
    first = act(story, "star", "m1")
    story.now += 1
    act(story, "snooze", "m1")
    story.now += 1
    story.tell("act", person="alice", kind="undo", of=first, status=302)
    story.settle(BEGIN + 3 * DAY + HOUR)
    story.page("alice", "shelf", "starred", "m1", "m3", "m2")
    story.page("alice", "shelf", "snoozed", "m1")
    assert found(story) == []


def test_whoever_undoes_muting_after_unmuting_is_where_they_began():
    story = right_story()
    steps = [act(story, kind, "m1") for kind in ("mute", "unmute")]
    inboxes = (("m4", "m2"), ("m4", "r", "m1", "m2"))
    for step, shown in zip(reversed(steps), inboxes, strict=True):
        story.tell("act", person="alice", kind="undo", of=step, status=302)
        story.settle(story.now + HOUR)
        story.page("alice", "inbox", "", *shown)
    assert found(story) == []


def test_what_is_old_and_was_imported_stands_behind_the_others_of_its_day():
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.size = 1")
    story.mail(BEGIN, {"msgid": "m1", "received": BEGIN - 9 * DAY})
    story.mail(BEGIN + 1, {"msgid": "old", "received": BEGIN - 2 * DAY})
    story.entries[-1] |= {"origin": "archive", "name": "a.mbox"}
    story.match(1, "m1", BEGIN)
    story.match(1, "old", BEGIN + 1)
    story.settle(BEGIN + HOUR)
    story.page("alice", "inbox", "", "m1", "old")
    assert judge(story.entries) == []
    story.entries[-1]["msgids"].reverse()
    assert "is out of order" in str(judge(story.entries)[0])


def test_a_thread_is_perhaps_muted_by_a_reply_that_names_only_what_it_answers():
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.size = 1")
    story.mail(10, {"msgid": "a"}, {"msgid": "b", "inreplyto": "a"})
    story.mail(20, {"msgid": "c", "inreplyto": "a", "references": ["a"]})
    for msgid, ts in (("a", 10), ("b", 10), ("c", 20)):
        story.match(1, msgid, ts)
    story.tell("act", person="alice", kind="mute", msgids=["b"], status=302, step_made=["s"])
    story.settle(30)
    story.page("alice", "inbox", "")
    assert not judge(story.entries)
