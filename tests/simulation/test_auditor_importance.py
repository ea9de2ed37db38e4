"""The auditor finds nothing in lists that are by importance, and each that is not."""

import copy

import pytest

from tests.simulation.auditor import judge
from tests.simulation.auditor.importance import votes_of
from tests.simulation.auditor.tables import Tables
from tests.simulation.stories import NOTE, Story

DAY = 86_400_000_000
BEGIN = 20_000 * DAY


def right_story():
    """A filter of everything, and what its owner and others make of what it finds."""
    story = Story()
    story.person("alice", email="mary@x.org")
    story.person("bob", "x")
    story.filter(1, "alice", "m.inreplyto IS NULL")
    rows = (
        {"msgid": "old", "received": BEGIN - 3 * DAY},
        {"msgid": "mine", "sender": "mary@x.org", "subject": "index"},
        {"msgid": "joe", "sender_name": "Joe", "subject": "the Index"},
        {"msgid": "bill", "sender": "bill@y.org", "subject": ""},
    )
    for number, row in enumerate(rows):
        story.mail(BEGIN + number, row)
        story.match(1, row["msgid"], BEGIN + number, read_at=BEGIN + 9)
    say(story, "+", "mine", "bob")
    say(story, "+", "mine", "terry")
    say(story, "-", "mine", "Jones")
    say(story, "-", "joe", "bob", audience="group:x")
    story.mail(
        BEGIN + 20,
        {"msgid": "r1", "inreplyto": "bill"},
        {"msgid": "r2", "inreplyto": "joe", "audience": "group:x"},
    )
    change(story, "add", weight=5, text="from me")
    change(story, "add", weight=2, text="from joe and not about spark")
    change(story, "add", weight=3, text="for each vote")
    change(story, "add", weight=4, text="per reply")
    change(story, "add", weight=-1, text="two days old")
    look(story, "mine", "bill", "joe", "old")  # 5 + 3, 4, 2, 2 - 1
    story.matches[0]["read_at"] = None
    change(story, "add", weight=2, text="new")
    change(story, "remove", key=1)
    change(story, "weigh", key=3, weight=-3)
    look(story, "bill", "old", "joe", "mine")  # 4, 2 - 1 + 2, 2, -3
    say(story, "retraction", "mine", "bob")
    change(story, "weigh", status=400, key=4, weight=0)
    change(story, "add", status=400, weight=9, text="replies to joe")
    look(story, "bill", "old", "joe", "mine")  # 4, 3, 2, 0
    say(story, "+", "joe", "bob")
    say(story, "-", "joe", "bob")
    change(story, "add", weight=1, text="newer than one week")
    look(story, "joe", "bill", "old", "mine", after=2 * DAY)  # 5 + 1 - 1, 4, 3, 0
    look(story, "joe", "bill", "old", "mine", after=6 * DAY)
    return story


def say(story, kind, msgid, owner, **more):
    """Have somebody vote for a message or against it, or take back their vote."""
    row = {"annid": f"{kind} {msgid} {owner}", "msgid": msgid, "owner": owner, **more}
    values = {"-": {"number": -1.0}, "retraction": {"kind": kind, "value": f"+ {msgid} {owner}"}}
    story.notes(story.now + 2, row | values.get(kind, {}))


def change(story, how, status=302, key=0, **sent):
    """Have alice change her rules, and the site do it if it does not refuse."""
    rules = [dict(row) for row in rules_of(story)]
    if status == 302 and how == "add":
        rules.append({"key": max((row["key"] for row in rules), default=0) + 1, **sent})
    elif status == 302 and how == "remove":
        rules = [row for row in rules if row["key"] != key]
    elif status == 302:
        rules = [row | sent if row["key"] == key else row for row in rules]
    story.tell("rules", person="alice", how=how, key=key, sent=sent, status=status, rows=rules)


def rules_of(story):
    told = [entry["rows"] for entry in story.entries if entry["what"] == "rules"]
    return told[-1] if told else []


def look(story, *msgids, after=DAY):
    """Have alice look at her inbox and at a filter's list, by importance."""
    story.settle(max(story.now, BEGIN) + (after if after > DAY else 10))
    story.page("alice", "importance", "", *msgids)
    story.page("alice", "importance", "f1", *msgids)


def found(story):
    return [str(finding) for finding in judge(story.entries)]


def test_nothing_is_found_in_right_lists():
    assert found(right_story()) == []


def shows(number, *msgids):
    def corrupt(story):
        pages = [e for e in story.entries if e["what"] == "seen" and e["kind"] == "page"]
        pages[number]["msgids"] = list(msgids)

    return corrupt


def has(number, **values):
    def corrupt(story):
        told = [entry for entry in story.entries if entry["what"] == "rules"]
        told[number]["rows"][0] |= values

    return corrupt


CORRUPTIONS = {
    "the newest are first": (shows(0, "bill", "joe", "mine", "old"), "importance of alice is out"),
    "a filter's list has another order": (shows(1, "mine", "bill", "old", "joe"), "f1 of alice is"),
    "one is missing": (shows(0, "mine", "bill", "joe"), "lacks old"),
    "what is new is as what was read": (shows(2, "bill", "joe", "old", "mine"), "old ((3,"),
    "weights are those of before": (shows(4, "mine", "bill", "joe", "old"), "out of order: mine"),
    "of equal ones the older is first": (shows(6, "joe", "old", "bill", "mine"), "out of order"),
    "a rule has another weight": (
        has(0, weight=4),
        "add {'weight': 5, 'text': 'from me'} of alice",
    ),
    "another rule was weighed": (has(7, weight=3), "weigh {'weight': -3} of alice"),
    "what was refused was done": (has(8, weight=0), "weigh {'weight': 0} of alice, answered 400"),
}


@pytest.mark.parametrize(("corrupt", "said"), CORRUPTIONS.values(), ids=CORRUPTIONS)
def test_each_corruption_is_found(corrupt, said):
    story = copy.deepcopy(right_story())
    corrupt(story)
    assert any(said in sentence for sentence in found(story)), found(story)


def test_what_became_of_a_lost_request_is_what_is_there():
    story = right_story()
    change(story, "weigh", key=4, weight=-9)
    story.entries[-1]["status"] = None
    look(story, "joe", "old", "mine", "bill")
    assert found(story) == []


def test_after_a_backup_the_rules_are_those_that_it_has():
    story = right_story()
    rows = [{"key": 2, "weight": 7, "text": "about index"}]
    story.tell("rules", person="alice", how="restored", rows=rows)
    look(story, "joe", "mine", "bill", "old")
    assert found(story) == []


VOTES = {
    "of each their last": (2, {"ts": 1, "number": -1.0}, {"ts": 2}, {"ts": 1, "owner": "bob"}),
    "not what was taken back": (-1, {}, {"number": -1.0, "owner": "bob"}, {"taken": True}),
    "not what one may not see": (0, {"audience": "group:x"}),
    "not what says nothing": (1, {"ts": 1}, {"number": None}),
    "nobody knows which was the last": (None, {"number": -1.0}, {"audience": "user:alice"}),
    "and both may be the same": (1, {}, {"audience": "user:alice"}),
}


@pytest.mark.parametrize("case", VOTES.values(), ids=VOTES)
def test_votes_are_counted(case):
    wanted, *rows = case
    notes = [
        NOTE | {"annid": str(number), "msgid": "m", "owner": "joe", "ts": 2} | row
        for number, row in enumerate(rows)
        if "taken" not in row
    ]
    if len(notes) < len(rows):
        notes.append(notes[0] | {"annid": "t", "kind": "retraction", "value": notes[0]["annid"]})
    assert votes_of(Tables((), notes, ("public", "user:alice")), "m") == wanted
