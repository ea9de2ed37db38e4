"""The auditor finds nothing where each match was sent once, and each corruption of that."""

import copy

import pytest

from tests.simulation.auditor import judge
from tests.simulation.auditor.findings import when
from tests.simulation.auditor.two_worlds import differences
from tests.simulation.stories import Story, rows_of

HOUR = 3_600_000_000
BEGIN = 480_000 * HOUR


def right_story():
    """A webhook, a digest and a forward of one person, over a kept and a live filter."""
    story = Story()
    story.person("alice", "x", quiet_from=22 * 60, quiet_to=7 * 60)
    story.person("bob")
    story.filter(1, "alice", "m.size = 1", timeliness="hourly")
    story.filter(2, "alice", "EXISTS (a IN annotations: a.msgid = m.msgid)", live=True)
    hook, digest, forward = 1, 2, 3
    story.destination(hook, "alice", "webhook")
    story.destination(digest, "alice", "digest", [1])
    story.destination(forward, "alice", "forward")
    nine = BEGIN + 9 * HOUR
    story.mail(nine, {"msgid": "m1"}, {"msgid": "m2", "audience": "group:x"})
    for msgid, audience in (("m1", "public"), ("m2", "group:x")):
        story.match(1, msgid, nine, shown_at=nine + HOUR, stored_at=nine + 1, audience=audience)
    story.notes(nine + 2, {"annid": "v", "msgid": "m1", "owner": "bob"})
    voted = story.match(2, "m1", nine + 2)
    for row in story.matches:
        row["told"] = when(row["matched_at"])
    story.now = nine + HOUR
    one, two, _ = story.matches
    story.hooked(hook, 0, 3, one, two, voted)
    story.digest(digest, 0, 3, "m1", "m2")
    for position, msgid in ((1, "m1"), (2, "m2"), (3, "m1")):
        story.forwarded(forward, position, msgid)
    story.settle(nine + HOUR)
    story.notes(
        nine + 2 * HOUR,
        {"annid": "w", "msgid": "m1", "owner": "bob", "kind": "retraction", "value": "v"},
    )
    story.position = 4
    voted |= {"retracted_at": nine + 2 * HOUR, "sequence": 4, "told": when(nine + 2 * HOUR)}
    story.hooked(hook, 3, 4, voted | {"op": "delete"}, answer="accept, then cut")
    story.hooked(hook, 3, 4, voted | {"op": "delete"})
    story.settle(nine + 3 * HOUR)
    return story


def found(story):
    return [str(finding) for finding in judge(story.entries)]


def test_nothing_is_found_where_each_match_was_sent_once():
    assert found(right_story()) == []


def received(story):
    return [entry for entry in story.entries if entry["what"] == "received"]


def unsent(number):
    return lambda story: story.entries.remove(received(story)[number])


def twice(number):
    def corrupt(story):
        entry = received(story)[number]
        story.entries.insert(story.entries.index(entry) + 1, dict(entry))

    return corrupt


def swapped(one, other):
    def corrupt(story):
        first, second = (story.entries.index(received(story)[n]) for n in (one, other))
        entries = story.entries
        entries[first], entries[second] = entries[second], entries[first]

    return corrupt


def sent(number, **fields):
    return lambda story: received(story)[number].update(fields)


def told(number, place, **fields):
    return lambda story: received(story)[number]["payload"]["matches"][place].update(fields)


def told_out_of_order(story):
    received(story)[0]["payload"]["matches"].reverse()


def without(place):
    return lambda story: received(story)[0]["payload"]["matches"].pop(place)


def digest_without(story):
    payload = received(story)[1]["payload"]
    payload["text"] = payload["text"].replace("id=m2", "id=m9")


def stored(place, point=0, **fields):
    return lambda story: rows_of(story, "matches", point)[place].update(fields)


def waits(story):
    rows_of(story, "destinations", 0)[0]["due_at"] = BEGIN


def told_more_again(story):
    payload = received(story)[6]["payload"] = copy.deepcopy(received(story)[6]["payload"])
    payload["matches"].append(received(story)[0]["payload"]["matches"][0])


BOB = "http://127.0.0.1/message/?id=m2&in=user%3Abob"
CORRUPTIONS = {
    "a webhook is not sent": (unsent(0), "webhook 1 of alice has come to position 3, and m1"),
    "a webhook lacks a match": (without(1), "m2 of filter 1 at 2 was never sent"),
    "a digest is not sent": (unsent(1), "digest 2 of alice has come to position 3, and m1"),
    "a digest lacks a match": (digest_without, "m2 of filter 1 at 2 was never sent"),
    "a message is not forwarded": (unsent(3), "forward 3 of alice has come to position 3, and m2"),
    "a retraction is not sent": (lambda s: (unsent(6)(s), unsent(5)(s)), "m1 of filter 2 at 4"),
    "a webhook twice": (twice(0), "came twice, and was answered the first time"),
    "a digest twice": (twice(1), "came twice, and was answered the first time"),
    "a message twice": (twice(2), "came twice, and was answered the first time"),
    "a webhook with more than the first time": (told_more_again, "came again with m1"),
    "out of order": (swapped(2, 4), "out of order"),
    "out of order within": (told_out_of_order, "out of order, or of another range"),
    "of another range": (told(0, 2, sequence=9), "out of order, or of another range"),
    "to somebody else": (sent(2, recipient="9@out.example"), "went to 9@out.example"),
    "to a path of nobody": (sent(0, message_id=f"{'9' * 32}-0-3"), "for no destination"),
    "of mail that is not its owner's": (told(0, 1, url=BOB), "which its owner may not see"),
    "another message": (told(0, 1, msgid="m9"), "where m2 was released"),
    "another instant": (told(0, 0, matched_at=when(BEGIN)), "says insert of m1 at"),
    "an insert for a retraction": (told(6, 0, op="insert"), "it is delete at"),
    "too early": (sent(0, now=BEGIN + 9 * HOUR + 2), "to be shown at"),
    "a message too early": (sent(2, now=BEGIN + 9 * HOUR + 2), "to be shown at"),
    "in quiet hours": (sent(0, now=BEGIN + 23 * HOUR), "while alice rests"),
    "planned too early": (stored(0, shown_at=BEGIN + 9 * HOUR + 1), "is to be shown at"),
    "planned too late": (stored(2, shown_at=BEGIN + 9 * HOUR + 3), "is to be shown at"),
    "planned anew for no reason": (stored(0, 1, shown_at=BEGIN + 9 * HOUR + 5), "to be shown at"),
    "due and not released": (stored(0, sequence=None), "and not released"),
    "a destination that waits": (waits, "is due since"),
}


@pytest.mark.parametrize(("corrupt", "said"), CORRUPTIONS.values(), ids=CORRUPTIONS)
def test_each_corruption_is_found(corrupt, said):
    story = copy.deepcopy(right_story())
    corrupt(story)
    assert any(said in sentence for sentence in found(story)), found(story)


@pytest.mark.parametrize("name", ["another message", "another instant", "too early"])
def test_positions_before_a_restore_were_those_of_other_matches(name):
    story = copy.deepcopy(right_story())
    corrupt, said = CORRUPTIONS[name]
    corrupt(story)
    last = story.entries.index(received(story)[4])
    restore = {"what": "upkeep", "kind": "restore", "step": 0, "now": BEGIN + 10 * HOUR}
    story.entries.insert(last + 1, restore)
    assert not any(said in sentence for sentence in found(story)), found(story)


def test_what_was_shown_already_may_be_sent_by_a_clock_that_was_set_back():
    story = copy.deepcopy(right_story())
    corrupt, said = CORRUPTIONS["a message too early"]
    corrupt(story)
    step = {"what": "fault", "kind": "clock_step", "by": -HOUR, "step": 0, "now": BEGIN}
    story.entries.insert(0, step)
    assert not any(said in sentence for sentence in found(story)), found(story)


def test_what_has_left_a_list_and_come_back_since_was_told_of_its_first_stay():
    story = copy.deepcopy(right_story())
    sent = received(story)[0]
    stored(0, matched_at=sent["now"] + HOUR)(story)
    assert not any("says insert of m1" in sentence for sentence in found(story)), found(story)
    stored(0, matched_at=sent["now"] - 2 * HOUR)(story)
    assert any("says insert of m1" in sentence for sentence in found(story))


def test_what_a_filter_has_found_before_it_became_live_was_told_of_that_time():
    story = copy.deepcopy(right_story())
    sent = received(story)[0]
    stored(0, matched_at=sent["now"] - 2 * HOUR)(story)
    story.change(1, "mode", live=True)
    story.entries.insert(story.entries.index(sent) + 1, story.entries.pop())
    assert not any("says insert of m1" in sentence for sentence in found(story))


def test_what_was_answered_may_come_again_after_a_crash():
    story = right_story()
    twice(1)(story)
    (_, entry) = received(story)[1:3]
    fault = {"what": "fault", "kind": "crash", "step": entry["step"], "now": entry["now"]}
    story.entries.insert(story.entries.index(entry) + 1, fault)
    assert found(story) == []


def test_what_is_of_a_muted_thread_need_not_be_sent_and_all_else_must_be():
    story = right_story()
    story.tell("act", person="alice", kind="mute", msgids=["m1"], status=302, step_made=["s"])
    noon = BEGIN + 12 * HOUR
    story.mail(noon, {"msgid": "m3", "references": ["m1"]}, {"msgid": "m4"})
    for msgid in ("m3", "m4"):
        story.match(1, msgid, noon)
    story.settle(BEGIN + 13 * HOUR)
    lost = [sentence for sentence in found(story) if "was never sent" in sentence]
    assert len(lost) == 3  # by each destination
    assert all("m4 of filter 1 at 6" in sentence for sentence in lost)


def test_a_thread_that_was_muted_by_a_copy_that_is_out_of_sight_may_be_muted():
    story = right_story()
    story.person("alice", "x")
    noon = BEGIN + 12 * HOUR
    story.mail(noon, {"msgid": "m3", "references": ["m0"], "audience": "group:x"})
    story.tell("act", person="alice", kind="mute", msgids=["m3"], status=302, step_made=["s"])
    story.person("alice")
    story.mail(noon + 1, {"msgid": "m4", "references": ["m0"]})
    story.match(1, "m4", noon + 1, shown_at=BEGIN + 13 * HOUR)
    story.settle(BEGIN + 13 * HOUR)
    assert not any("m4 of filter 1" in sentence for sentence in found(story))


def test_a_filter_of_somebody_else_does_not_go_to_a_destination():
    story = right_story()
    story.filter(3, "bob", "m.size = 1")
    row = story.match(3, "m1", BEGIN + 9 * HOUR, told=when(BEGIN + 9 * HOUR).replace(".000000", ""))
    story.hooked(1, 4, 5, row)
    story.settle(BEGIN + 13 * HOUR)
    assert any("of filter 3, which does not go there" in sentence for sentence in found(story))


def test_a_site_that_does_not_come_to_rest_or_is_damaged_is_found():
    story = right_story()
    story.tell("seen", kind="waiting", outbox=0, unreleased=2)
    story.tell("seen", kind="check", problems=["a file is gone"])
    story.tell("seen", kind="health", status=503, text="late")
    assert [finding.split(": ", 2)[2] for finding in found(story)] == [
        "2 of unreleased still wait",
        "check-data says: a file is gone",
        "/healthz answers 503: late",
    ]


# Two worlds.


def test_a_person_sees_the_same_without_the_mail_that_is_not_theirs():
    assert differences(right_story().entries, right_story().entries, "alice") == []


@pytest.mark.parametrize(
    ("corrupt", "said"),
    [
        (stored(0, matched_at=BEGIN), "matches of alice differs"),
        (stored(0, filter=9), "matches of alice differs"),
        (unsent(3), "what was sent of alice differs"),
        (lambda story: story.page("alice", "inbox", "", "m1"), "pages of alice differs"),
    ],
)
def test_what_differs_in_two_worlds_is_found(corrupt, said):
    one, other = right_story(), right_story()
    corrupt(other)
    assert any(said in str(finding) for finding in differences(one.entries, other.entries, "alice"))
    assert differences(one.entries, other.entries, "bob") == []


@pytest.mark.parametrize(("chosen", "planned"), [(6, True), (4, False)])
def test_what_was_stored_before_a_holiday_was_chosen_is_shown_as_it_was_planned(chosen, planned):
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.size = 1")
    story.mail(5, {"msgid": "m1"})
    story.match(1, "m1", 5)
    story.now = chosen
    story.person("alice", holiday_until="1970-01-09")
    story.settle(9)
    assert (found(story) == []) is planned


def notified_story(number=2, last="m3"):
    """A browser that is told of two messages at once, then of one."""
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.size = 1")
    story.destination(1, "alice", "push")
    story.mail(BEGIN, {"msgid": "m1"}, {"msgid": "m2"})
    for msgid in ("m1", "m2"):
        story.match(1, msgid, BEGIN)
    story.now = BEGIN + 1
    story.notified(1, 0, 2, number)
    story.settle(BEGIN + HOUR)
    story.mail(BEGIN + 2 * HOUR, {"msgid": "m3"})
    story.match(1, "m3", BEGIN + 2 * HOUR)
    story.now = BEGIN + 2 * HOUR
    if last:
        story.notified(1, 2, 3, 1, last)
    story.settle(BEGIN + 3 * HOUR)
    return story


def test_a_browser_is_notified_of_all_that_came():
    assert found(notified_story()) == []
    assert "tells of 1, and 2 had come" in found(notified_story(number=1))[0]
    assert "m3 of filter 1 at 3 was never sent" in found(notified_story(last="m1"))[0]
    assert "m3 of filter 1 at 3 was never sent" in found(notified_story(last=""))[0]


@pytest.mark.parametrize("is_before", [True, False])
def test_what_was_sent_to_somebody_before_they_left_a_group_was_theirs_to_see(is_before):
    story = Story()
    story.person("alice", "x")
    story.destination(1, "alice", "webhook")
    story.mail(BEGIN, {"msgid": "m1", "audience": "group:x"})
    match = story.match(1, "m1", BEGIN, audience="group:x", told=when(BEGIN))
    if is_before:
        story.hooked(1, 0, 1, match)
    story.person("alice")
    story.settle(BEGIN + HOUR)
    if not is_before:
        story.hooked(1, 0, 1, match)
        story.settle(BEGIN + 2 * HOUR)
    assert any("may not see" in sentence for sentence in found(story)) is not is_before


@pytest.mark.parametrize("leaves", [True, False])
def test_who_leaves_a_group_finds_anew_and_what_was_said_before_stands(leaves):
    story = Story()
    story.person("alice", "x")
    story.destination(1, "alice", "webhook")
    story.filter(1, "alice", "m.msgid = 'm1'", mode="live")
    story.mail(BEGIN, {"msgid": "m1", "audience": "group:x"})
    match = story.match(1, "m1", BEGIN, audience="group:x", told=when(BEGIN))
    story.mail(BEGIN + HOUR, {"msgid": "m1"})
    story.hooked(1, 0, 1, match)
    if leaves:
        story.person("alice")
    match.update(matched_at=BEGIN + HOUR, audience="public")  # the copy that everybody sees
    story.settle(BEGIN + 2 * HOUR)
    assert any("says insert of m1" in sentence for sentence in found(story)) is not leaves
