"""What may not be sent, or be held, as the auditor judges it."""

import pytest

from tests.simulation.auditor import judge
from tests.simulation.stories import Story

HOUR = 3_600_000_000
BEGIN = 480_000 * HOUR
TEN = BEGIN + 10 * HOUR


def found(story):
    return [str(finding) for finding in judge(story.entries)]


def matched(**more):
    """Return a story of two filters of alice that find everything."""
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.size > 0", **more)
    story.filter(2, "alice", "m.size >= 1", **more)
    return story


def find(story, at, *msgids, key=1, **more):
    return [story.match(key, msgid, at, **more) for msgid in msgids]


def come(story, at, *msgids):
    story.mail(at, *({"msgid": msgid} for msgid in msgids))


def act(story, kind, msgid, step):
    fields = {"person": "alice", "msgids": [msgid], "status": 302, "step_made": [step]}
    story.tell("act", kind=kind, **fields)


def muted_story():
    story = matched()
    story.destination(1, "alice", "digest", [1, 2])
    come(story, TEN, "m1")
    find(story, TEN, "m1")
    story.digest(1, 0, 1, "m1")
    find(story, TEN, "m1", key=2)
    story.digest(1, 1, 2, "m1")
    story.settle(TEN + 1)
    return story


def test_nothing_is_sent_of_a_muted_thread():
    story = muted_story()
    act(story, "mute", "m1", "step")
    find(story, TEN, "m1")
    story.matches.pop(0)
    story.digest(1, 2, 3, "m1")
    story.settle(TEN + 2)
    assert any("alice has muted" in sentence for sentence in found(story))


def test_what_is_muted_while_something_is_sent_may_be_in_it():
    story = muted_story()
    story.tell("meanwhile", waits_for="smtp")
    act(story, "mute", "m1", "step")
    story.tell("meanwhile", ended=True)
    find(story, TEN, "m1")
    story.matches.pop(0)
    story.digest(1, 2, 3, "m1")
    story.settle(TEN + 2)
    assert not any("has muted" in sentence for sentence in found(story))
    story.tell("step", name="work")
    find(story, TEN, "m1")
    story.matches.pop(0)
    story.digest(1, 3, 4, "m1")
    story.settle(TEN + 3)
    assert any("has muted" in sentence for sentence in found(story))


@pytest.mark.parametrize("filters", [[1], [1, 2], None])
def test_a_digest_has_what_goes_there_alone(filters):
    story = matched()
    story.destination(1, "alice", "digest", filters)
    come(story, TEN, "m1", "m2")
    find(story, TEN, "m1")
    find(story, TEN, "m2", key=2)
    story.digest(1, 0, 2, "m1", "m2")
    story.settle(TEN + 1)
    sentences = [sentence for sentence in found(story) if "do not go there" in sentence]
    assert len(sentences) == (filters == [1])


@pytest.mark.parametrize("flooding", ["f1", "f2"])
def test_a_flood_does_not_come_one_by_one(flooding):
    story = matched()
    story.destination(1, "alice", "forward")
    come(story, TEN, "m1")
    find(story, TEN, "m1")
    name = f"<{1:032x}-0-1-flood.{7:032x}@127.0.0.1>"
    text = f"1 new\r\n\r\n{flooding} found 1 messages, far more than usual\r\n"
    story.received(1, name, {"headers": {"Message-ID": name}, "text": text})
    story.forwarded(1, 1, "m1")
    story.settle(TEN + 1)
    floods = [sentence for sentence in found(story) if "is of a flood" in sentence]
    assert len(floods) == (flooding == "f1")


@pytest.mark.parametrize("flooding", ["f1", "f2"])
def test_what_another_filter_found_is_forwarded_beside_a_flood(flooding):
    story = matched()
    story.destination(1, "alice", "forward")
    come(story, TEN, "m1")
    find(story, TEN, "m1")
    link = "  http://127.0.0.1/message/?id=m1&in=public\r\n"
    name = f"<{1:032x}-0-1-flood.{7:032x}@127.0.0.1>"
    text = f"1 new\r\n\r\n{flooding} found 1 messages, far more than usual\r\n{link}"
    story.received(1, name, {"headers": {"Message-ID": name}, "text": text})
    story.settle(TEN + 1)
    assert any("was never sent" in said for said in found(story)) == (flooding == "f2")


@pytest.mark.parametrize(("title", "right"), [("Be answered", True), ("Be asked", False)])
def test_a_flood_is_known_by_the_title_of_its_filter(title, right):
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.size > 0", name="be-answered")
    story.destination(1, "alice", "forward")
    come(story, TEN, "m1")
    find(story, TEN, "m1")
    link = "  http://127.0.0.1/message/?id=m1&in=public\r\n"
    name = f"<{1:032x}-0-1-flood.{7:032x}@127.0.0.1>"
    text = f"1 new\r\n\r\n{title} found 1 messages, far more than usual\r\n{link}"
    story.received(1, name, {"headers": {"Message-ID": name}, "text": text})
    story.settle(TEN + 1)
    assert any("was never sent" in said for said in found(story)) != right


@pytest.mark.parametrize(("after", "right"), [(0, True), (1, False)])
def test_a_flood_comes_as_one_digest(after, right):
    story = matched()
    story.destination(1, "alice", "forward")
    come(story, TEN, "m1", "m2")
    find(story, TEN, "m1", "m2")
    for start in (0, after):
        name = f"<{1:032x}-{start}-2-flood.{7:032x}@127.0.0.1>"
        text = "2 new\r\n\r\nf1 found 2 messages, far more than usual\r\n"
        payload = {"headers": {"Message-ID": name}, "text": text}
        story.received(1, name, payload, answer="accept, then cut")
    story.settle(TEN + 1)
    assert any("of a flood that came before" in said for said in found(story)) != right


@pytest.mark.parametrize(("listed", "right"), [(2, False), (25, True)])
def test_a_digest_leaves_out_what_it_has_no_room_for_alone(listed, right):
    story = matched()
    story.destination(1, "alice", "digest")
    msgids = [f"m{number}" for number in range(listed + 1)]
    come(story, TEN, *msgids)
    find(story, TEN, *msgids)
    story.digest(1, 0, listed + 1, *msgids[:-1])
    story.entries[-1]["payload"]["text"] += "See the rest: 1 more\r\n"
    story.settle(TEN + 1)
    assert any("leaves out others" in said for said in found(story)) != right


@pytest.mark.parametrize(("before", "after", "rests"), [(False, True, True), (True, False, False)])
def test_nothing_is_sent_to_somebody_who_rests_by_then(before, after, rests):
    story = Story()
    holiday = {"holiday_until": "2100-01-01"}
    story.person("alice", **(holiday if before else {}))
    story.destination(1, "alice", "webhook")
    story.settle(TEN)
    story.person("alice", **(holiday if after else {}))
    story.hooked(1, 0, 1)
    story.person("alice", **(holiday if before else {}))
    story.settle(TEN + 1)
    assert any("while alice rests" in said for said in found(story)) is rests


@pytest.mark.parametrize("is_seen", [True, False])
@pytest.mark.parametrize(("shown", "right"), [(11, True), (18, False), (10, False)])
def test_what_waits_is_shown_by_the_new_time(shown, right, is_seen):
    story = matched(timeliness="daily at 20:00")
    story.settle(TEN - 1)
    come(story, TEN, "m1")
    waiting = [
        *find(story, TEN, "m1", shown_at=TEN + 10 * HOUR, sequence=None),
        *find(story, TEN, "m1", key=2, shown_at=TEN + 10 * HOUR, sequence=None),
    ]
    if is_seen:
        story.settle(TEN + 1)
    story.now = TEN + 2
    story.tell("step", name="change")
    story.change(1, "timeliness", timeliness="hourly", status=302)
    waiting[0]["shown_at"] = BEGIN + shown * HOUR
    story.settle(TEN + 3)
    assert any("waited as that became hourly" in said for said in found(story)) != right


def test_nothing_is_held_where_nothing_is_unread():
    story = matched(while_unread=True)
    come(story, TEN, "m1", "m2")
    (first,) = find(story, TEN, "m1")
    find(story, TEN, "m2", shown_at=1 << 62, sequence=None)
    story.settle(TEN + 1)
    assert not any("is held" in said for said in found(story))
    first["read_at"] = TEN + 1
    story.settle(TEN + 2)
    assert any("is held, and nothing there is unread" in said for said in found(story))


def test_what_comes_back_has_a_new_position():
    story = matched()
    come(story, TEN, "m1")
    (row,) = find(story, TEN, "m1")
    story.settle(TEN + 1)
    row["stored_at"] = TEN + 2
    story.settle(TEN + 3)
    assert any("its old position 1" in said for said in found(story))
    row |= {"stored_at": TEN + 4, "sequence": 2}
    story.settle(TEN + 5)
    assert sum("its old position" in said for said in found(story)) == 1


LENT = "m.size = 1"


def borrowed(text="in alice's f1", tql=LENT, **lent):
    story = Story()
    story.person("alice")
    story.person("bob")
    story.filter(1, "alice", LENT, **{"visibility": "shared", **lent})
    story.filter(2, "bob", tql, text=text)
    return story


@pytest.mark.parametrize(
    ("story", "said"),
    [
        (borrowed(), ""),
        (borrowed(tql="m.size = 2"), "means something else by now"),
        (borrowed(text="in alice's f1 and from joe", tql="m.size = 2"), ""),
        (borrowed(visibility="private"), "alice does not share f1"),
        (borrowed(name="f9"), "f1 of alice is not there"),
    ],
)
def test_a_filter_over_that_of_somebody_else_is_of_one_that_is_shared_and_as_it_is(story, said):
    story.settle(TEN)
    sentences = [sentence for sentence in found(story) if "borrowing" in sentence]
    assert sentences == [] if not said else said in sentences[0]


DEFINED = "AGGREGATE (x NUMBER) RETURNS NUMBER STATE (s NUMBER) INITIALIZE (x) ITERATE (s + x)"


@pytest.mark.parametrize(
    ("text", "tql", "visibility", "said"),
    [
        ("alice.g1(a.number", DEFINED, "shared", ""),
        ("alice.g1(a.number", DEFINED, "private", "g1 of alice is not there for it"),
        ("g1(a.number", DEFINED, "shared", "g1 of bob is not there for it"),
        ("alice.g1(a.number", DEFINED.replace("+", "-"), "shared", "something else by now"),
    ],
)
def test_a_filter_uses_an_aggregate_that_is_shared_and_as_it_is(text, tql, visibility, said):
    story = borrowed(text, f"{tql} OF (a.number, a IN annotations: a.msgid = m.msgid) > 1")
    story.settle(TEN)
    row = {"owner": "alice", "name": "g1", "definition": DEFINED, "visibility": visibility}
    story.tell("seen", kind="aggregates", rows=[row])
    sentences = [sentence for sentence in found(story) if "borrowing" in sentence]
    assert sentences == [] if not said else said in sentences[0]


def test_a_filter_that_may_not_be_borrowed_has_an_error():
    story = borrowed(visibility="private")
    story.settle(TEN, f2={"error": "There is no filter f1."})
    assert not any("borrowing" in sentence for sentence in found(story))


ASKED = {"mail": "existing", "mode": "keep", "timeliness": "hourly", "visibility": "private"}


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({}, ""),
        ({"t0": 5}, "existing mail"),
        ({"live": True}, "live"),
        ({"timeliness": ""}, "timeliness"),
        ({"visibility": "shared"}, "visibility"),
        ({"while_unread": True}, "while_unread"),
    ],
)
def test_a_filter_is_as_it_was_asked_for(more, name):
    story = Story()
    story.person("alice")
    asked = {"timeliness": "hourly", "visibility": "private", "while_unread": False, **more}
    story.filter(1, "alice", "m.size > 0", asked=ASKED, **asked)
    story.settle(TEN)
    sentences = [said for said in found(story) if "wishes" in said]
    assert len(sentences) == bool(name) and all(name in said for said in sentences)
