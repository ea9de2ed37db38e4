"""The auditor finds nothing where each match was put in once, and each corruption of that."""

import copy

import pytest

from tests.simulation.auditor import judge
from tests.simulation.stories import Story, rows_of

HOUR = 3_600_000_000
NINE = 480_000 * HOUR + 9 * HOUR
OURS = "$TapestryDelivered"


class BoxStory(Story):
    """A story in which somebody has a mailbox; ``lying`` is what is in it, by folder."""

    def __init__(self):
        super().__init__()
        self.lying = {}

    def mailbox(self, key, person, **more):
        fields = {"key": key, "uid": f"{key:032x}", "person": person, "kind": "mailbox"}
        where = {"address": "a.1", "folder": "Tapestry", "delimiter": "/", "keywords": True}
        self.destinations[key] = self.tell(
            "destination", name="d", filters=None, cursor=self.position, **fields, **where | more
        )

    def put(self, folder, msgid, *, how="append", flags=(OURS,), **more):
        said = {"msgid": msgid, "sender": "joe@x.org", "subject": None, "body": "", **more}
        payload = {**said, "flags": list(flags)}
        self.lying.setdefault(folder, []).append(payload)
        fields = {"endpoint": "imap", "recipient": "a.1", "message_id": None, "answer": "ok"}
        self.tell("received", folder=folder, how=how, payload=payload, accepted=True, **fields)

    def pull(self, ts, audience, *msgids, flags=()):
        """Have mail come to the mailbox a.1, and be taken in for an audience at ``ts``."""
        rows = [{"msgid": msgid, "audience": audience} for msgid in msgids]
        self.mail(ts, *rows)
        self.entries[-1] |= {"origin": "mailbox", "source": 1, "name": "a.1/INBOX"}
        told = [{"sender": "joe@x.org", "body": "", "flags": list(flags), **row} for row in rows]
        where = {"user": "a.1", "owner": "alice", "folder": "INBOX"}
        self.tell("mailbox", how="came", messages=told, **where)

    def settle(self, now, **states):
        super().settle(now, **states)
        self.tell("seen", kind="mailbox", user="a.1", folders=copy.deepcopy(self.lying))


def right_story():
    """A kept and a live filter of alice; what bob alone has is not hers."""
    story = BoxStory()
    story.person("alice", quiet_from=22 * 60, quiet_to=7 * 60)
    story.person("bob")
    story.filter(1, "alice", "m.size = 1")
    story.filter(2, "alice", "EXISTS (a IN annotations: a.msgid = m.msgid)", live=True)
    story.mailbox(1, "alice")
    story.pull(NINE, "user:alice", "m1", flags=["\\Flagged"])
    story.mail(NINE + 1, {"msgid": "m2"}, {"msgid": "m3", "audience": "user:bob"})
    story.match(1, "m1", NINE, audience="user:alice")
    story.match(1, "m2", NINE + 1)
    story.notes(NINE + 2, {"annid": "v", "msgid": "m2", "owner": "bob"})
    voted = story.match(2, "m2", NINE + 2)
    story.now = NINE + 3
    story.put("Tapestry/f1", "m1", flags=[OURS, "\\Flagged"])
    story.put("Tapestry/f1", "m2")
    story.put("Tapestry/f2", "m2")
    story.settle(NINE + HOUR)
    back = {"annid": "w", "msgid": "m2", "owner": "bob", "kind": "retraction", "value": "v"}
    story.notes(NINE + 2 * HOUR, back)
    story.position = 4
    voted |= {"retracted_at": NINE + 2 * HOUR, "sequence": 4}
    story.put("Tapestry/f2/Left", "m2", how="move")
    story.lying["Tapestry/f2"].clear()
    story.settle(NINE + 3 * HOUR)
    return story


def found(story):
    return [str(finding) for finding in judge(story.entries)]


def test_nothing_is_found_where_each_match_was_put_in_once():
    assert found(right_story()) == []


def test_what_was_put_in_before_its_mailbox_was_gone_was_wanted():
    story = right_story()
    place = next(n for n, entry in enumerate(story.entries) if entry is puts(story)[-1])
    gone = {**story.entries[place], "what": "destination", "how": "deleted", "uid": f"{1:032x}"}
    story.entries.insert(place + 1, gone)
    assert found(story) == []


@pytest.mark.parametrize(("forgot", "complains"), [(True, False), (False, True)])
def test_what_was_put_in_by_a_copy_forgotten_since_lies_there(forgot, complains):
    story = right_story()
    boxes(story)[1]["Tapestry/f1"][1]["body"] = "the copy that was forgotten"
    if forgot:
        upkeep = {"what": "upkeep", "kind": "forget", "audience": "group:x", "before": None}
        story.entries.insert(
            story.entries.index(puts(story)[-1]), upkeep | {"step": 1, "now": NINE + 4}
        )
    is_found = any("m2 of filter 1 at 2 does not lie in" in text for text in found(story))
    assert is_found == complains


def puts(story):
    return [entry for entry in story.entries if entry["what"] == "received"]


def boxes(story):
    looks = [e for e in story.entries if e["what"] == "seen" and e["kind"] == "mailbox"]
    return [look["folders"] for look in looks]


def put(number, **fields):
    return lambda story: puts(story)[number]["payload"].update(fields)


def lacks(folder, place, point=0):
    return lambda story: boxes(story)[point][folder].pop(place)


def twice(folder, point=0):
    return lambda story: boxes(story)[point][folder].append(boxes(story)[point][folder][0])


def stays(story):
    boxes(story)[1]["Tapestry/f2"] = boxes(story)[1].pop("Tapestry/f2/Left")


def waits(story):
    rows_of(story, "destinations", 0)[0]["due_at"] = NINE


def comes_late(story):
    rows_of(story, "destinations", 0)[0]["cursor"] = 1


def lost(story):
    rows = rows_of(story, "rows", 0, table="messages")
    rows[:] = [row for row in rows if row["msgid"] != "m1"]


CORRUPTIONS = {
    "it is not there": (lacks("Tapestry/f1", 1), "m2 of filter 1 at 2 does not lie in"),
    "another of its name is": (
        lambda story: boxes(story)[0]["Tapestry/f1"][1].update(body="forged"),
        "m2 of filter 1 at 2 does not lie in",
    ),
    "it is there twice": (twice("Tapestry/f1"), "m1 lies 2 times in Tapestry/f1"),
    "it is there and has left": (
        lambda story: boxes(story)[1]["Tapestry/f2"].append(boxes(story)[0]["Tapestry/f2"][0]),
        "m2 lies 2 times in Tapestry/f2",
    ),
    "it has left and stays": (stays, "has left, and lies in Tapestry/f2"),
    "nobody put it on its way": (comes_late, "m2 of filter 1 at 2 waits for the mailbox 1"),
    "it waits": (waits, "is due since"),
    "it is somebody else's": (put(1, msgid="m3"), "which is for user:bob"),
    "it is nobody's": (put(1, body="made up"), "which is for nobody"),
    "its flags are another's": (put(1, flags=[OURS, "$todo"]), "with flags that it never had"),
    "it is not marked": (put(1, flags=[]), "without a mark"),
    "it comes at night": (
        lambda story: puts(story)[0].update(now=NINE + 14 * HOUR),
        "in a rest",
    ),
    "it goes somewhere else": (
        lambda story: puts(story)[0].update(recipient="b.1"),
        "where nobody wants it",
    ),
    "a source has not brought it": (lost, "came with 1 contents, and 0 are in messages"),
}


@pytest.mark.parametrize(("corrupt", "said"), CORRUPTIONS.values(), ids=CORRUPTIONS)
def test_each_corruption_is_found(corrupt, said):
    story = copy.deepcopy(right_story())
    corrupt(story)
    assert any(said in sentence for sentence in found(story)), found(story)


def test_what_is_marked_as_deleted_does_not_count():
    story = right_story()
    gone = {**boxes(story)[0]["Tapestry/f2"][0], "flags": ["\\Deleted", OURS]}
    boxes(story)[1]["Tapestry/f2"].append(gone)
    assert found(story) == []


def test_who_chooses_quiet_hours_before_the_first_point_may_have_got_mail_at_night():
    story = right_story()
    puts(story)[0].update(now=NINE + 14 * HOUR)
    person = next(entry for entry in story.entries if entry["what"] == "person")
    before = {**person, "quiet_from": None, "quiet_to": None}
    story.entries.insert(story.entries.index(person), before)
    assert found(story) == []


def test_of_two_audiences_one_copy_stays_where_the_other_has_left():
    story = right_story()
    story.mail(NINE + 2 * HOUR, {"msgid": "m2", "audience": "user:alice"})
    story.notes(NINE + 2 * HOUR + 1, {"annid": "x", "msgid": "m2", "owner": "bob"})
    story.match(2, "m2", NINE + 2 * HOUR + 1, audience="user:alice")
    story.now = NINE + 4 * HOUR
    story.put("Tapestry/f2", "m2", how="move")
    story.lying["Tapestry/f2/Left"].clear()
    story.settle(NINE + 5 * HOUR)
    assert not any("has left, and lies" in said for said in found(story)), found(story)


@pytest.mark.parametrize("how", ["append", "move"])
def test_what_its_reader_may_not_see_is_not_put_in_but_may_be_moved(how):
    story = right_story()
    story.mail(NINE + 2 * HOUR + 1, {"msgid": "m5", "audience": "group:x"})
    story.now = NINE + 4 * HOUR
    story.put("Tapestry/f2/Left", "m5", how=how)
    story.settle(NINE + 5 * HOUR)
    assert any("which is for group:x" in said for said in found(story)) == (how == "append")


def test_what_a_source_may_not_bring_any_more_may_be_missing():
    story = right_story()
    lost(story)
    pulled = next(entry for entry in story.entries if entry.get("origin") == "mailbox")
    pulled["receipt"] = None
    assert not any("came with" in sentence for sentence in found(story))


@pytest.mark.parametrize(("filters", "goes"), [(None, True), ([1, 2], False)])
def test_what_a_changed_filter_finds_goes_where_all_goes(filters, goes):
    story = right_story()
    story.destinations[1]["filters"] = filters
    lacks("Tapestry/f1", 1)(story)
    place = story.entries.index(puts(story)[0])
    changed = {"what": "filter_changed", "how": "timeliness", "step": 1, "now": NINE + 3}
    story.entries.insert(place, {**story.filters[1], **changed})
    assert any("m2 of filter 1 at 2 does not lie in" in said for said in found(story)) == goes
