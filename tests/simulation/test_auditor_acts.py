"""The auditor finds nothing in right acts, and each that is wrong, missing or not undone."""

import copy
import json

import pytest

from tests.simulation.auditor import judge
from tests.simulation.stories import Story

HOUR = 3_600_000_000
BEGIN = 20_000 * 24 * HOUR


def right_story():
    """A filter that stars and one that marks read; the first, a live one, lets go of a message."""
    story = Story()
    story.person("alice")
    story.settle(BEGIN - HOUR)
    since = BEGIN - HOUR
    live = "NOT EXISTS (r: r.inreplyto = m.msgid)"
    story.filter(1, "alice", live, live=True, acts="star", acts_since=since)
    story.filter(2, "alice", "m.size = 1", acts="read", acts_since=BEGIN)
    story.mail(BEGIN, {"msgid": "old"})
    acted(story, 1, "old", BEGIN, star="stands")
    story.match(2, "old", BEGIN)
    story.settle(BEGIN + HOUR)
    story.mail(BEGIN + 2 * HOUR, {"msgid": "m"}, {"msgid": "n"})
    for msgid in ("m", "n"):
        acted(story, 1, msgid, BEGIN + 2 * HOUR, star="stands", read_at=BEGIN + 2 * HOUR)
        acted(story, 2, msgid, BEGIN + 2 * HOUR, read="stands", read_at=BEGIN + 2 * HOUR)
    story.settle(BEGIN + 3 * HOUR)
    story.page("alice", "shelf", "starred", "n", "m", "old")
    story.now += 1
    story.tell("act", person="alice", kind="unstar", msgids=["n"], status=302, step_made=["a step"])
    story.settle(BEGIN + 4 * HOUR)
    story.page("alice", "shelf", "starred", "m", "old")
    story.mail(BEGIN + 5 * HOUR, {"msgid": "r", "inreplyto": "m", "references": ["m"]})
    for row in story.matches:
        if (row["filter"], row["msgid"]) == (1, "m"):
            row |= {"retracted_at": BEGIN + 5 * HOUR, "acts": json.dumps({"star": "left"})}
    acted(story, 1, "r", BEGIN + 5 * HOUR, star="stands", read_at=BEGIN + 5 * HOUR)
    acted(story, 2, "r", BEGIN + 5 * HOUR, read="stands", read_at=BEGIN + 5 * HOUR)
    story.settle(BEGIN + 6 * HOUR)
    story.page("alice", "shelf", "starred", "r", "old")
    return story


def acted(story, key, msgid, at, read_at=None, **acts):
    story.match(key, msgid, at, read_at=read_at, acted_at=at, acts=json.dumps(acts))


def found(story):
    return [finding for finding in judge(story.entries) if finding.law in ("acts", "lists")]


def test_nothing_is_found_in_right_acts():
    assert found(right_story()) == []


def matches_of(story, point, key, msgid):
    looks = [e for e in story.entries if e["what"] == "seen" and e["kind"] == "matches"]
    return [
        row
        for look in looks[point + 1 :]
        for row in look["rows"]
        if (row["filter"], row["msgid"]) == (key, msgid)
    ]


def not_acted(story):
    for row in matches_of(story, 1, 1, "m"):
        row |= {"acted_at": None, "acts": "{}"}


def acted_on_old_mail(story):
    for row in matches_of(story, 0, 2, "old"):
        row |= {"acted_at": BEGIN, "acts": json.dumps({"read": "stands"})}


def left_unread(story):
    for row in matches_of(story, 1, 1, "n"):
        row["read_at"] = None


def still_starred(story):
    pages = [e for e in story.entries if e["what"] == "seen" and e["kind"] == "page"]
    pages[-1]["msgids"] = ["r", "m", "old"]


def starred_again(story):
    pages = [e for e in story.entries if e["what"] == "seen" and e["kind"] == "page"]
    pages[1]["msgids"] = ["n", "m", "old"]


@pytest.mark.parametrize(
    ("corrupt", "words"),
    [
        (not_acted, "filter 1 did not do “star” with m"),
        (acted_on_old_mail, "filter 2 acted on old, which it had not to"),
        (left_unread, "n is unread, and filter 2 marks it read"),
        (still_starred, "shows m, which is not to be there"),
        (starred_again, "shows n, which is not to be there"),
    ],
)
def test_what_is_wrong_is_found(corrupt, words):
    story = right_story()
    assert found(story) == []
    story = copy.deepcopy(story)
    corrupt(story)
    assert words in str(found(story)[0])


def undone_story(*, stands: bool):
    """A filter starred a message, and its owner has undone that."""
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.size = 1", acts="star", acts_since=None)
    story.mail(BEGIN, {"msgid": "m"})
    acted(story, 1, "m", BEGIN, star="stands")
    story.settle(BEGIN + HOUR)
    story.page("alice", "shelf", "starred", "m")
    story.now += 1
    story.tell("acts_undone", person="alice", filter=1, msgids=["m"], status=302)
    story.matches[0]["acts"] = json.dumps({"star": "stands" if stands else "own"})
    story.settle(BEGIN + 2 * HOUR)
    story.page("alice", "shelf", "starred", *(["m"] if stands else []))
    return story


def test_what_was_undone_does_not_stand():
    assert found(undone_story(stands=False)) == []
    assert "did with m what was undone" in str(found(undone_story(stands=True))[0])


@pytest.mark.parametrize("deleted", [True, False])
def test_what_a_filter_did_that_was_made_and_deleted_between_two_looks_is_not_judged(deleted):
    story = Story()
    story.person("alice")
    story.filter(2, "alice", "m.size < 9", acts="", acts_since=None)
    story.settle(BEGIN - HOUR)
    if deleted:
        story.filter(1, "alice", "m.size = 1", acts="star", acts_since=None)
        story.tell("filter_changed", key=1, how="delete")
    story.mail(BEGIN, {"msgid": "m"})
    story.match(2, "m", BEGIN)
    story.settle(BEGIN + HOUR)
    story.page("alice", "shelf", "starred", "m")
    assert bool(found(story)) is not deleted


def folded_story(count, shown, **unfolded):
    """A new filter has found a message of before: one line of the inbox."""
    story = Story()
    story.person("alice")
    asked = {"mail": "existing", "timeliness": "", "mode": "keep", "visibility": "private"}
    story.filter(1, "alice", "m.size = 1", asked=asked, while_unread=False, visibility="private")
    story.mail(BEGIN, {"msgid": "m"})
    story.match(1, "m", BEGIN)
    if unfolded.get("asked"):
        story.tell("unfold", person="alice", filter=1, status=302)
    at = BEGIN + 2 if unfolded.get("is_open") else None
    story.settle(
        BEGIN + HOUR, f1={"folds_before": unfolded.get("before", BEGIN), "unfolded_at": at}
    )
    story.page("alice", "inbox", "", *shown)
    story.entries[-1]["folded"] = {"f1": count} if count else {}
    return story


@pytest.mark.parametrize(
    ("story", "words"),
    [
        (folded_story(1, []), ""),
        (folded_story(2, []), "found 2 of before, and not 1"),
        (folded_story(1, ["m"]), "shows m, which is not to be there"),
        (folded_story(0, ["m"], asked=True, is_open=True), ""),
        (folded_story(1, [], asked=True), "is still one line"),
        (folded_story(0, ["m"], is_open=True), "was opened in"),
        (folded_story(0, ["m"], before=None), "makes no line"),
    ],
)
def test_what_a_new_filter_finds_of_before_is_one_line(story, words):
    sentences = [str(finding) for finding in found(story)]
    assert any(words in said for said in sentences) if words else not sentences


TAGGED = {"annid": "t", "msgid": "m", "owner": "alice", "kind": "tag", "value": "filed"}
BACK = TAGGED | {"annid": "u", "kind": "retraction", "value": "t", "audience": "user:alice"}


@pytest.mark.parametrize(
    ("tags", "words"),
    [
        ([TAGGED | {"audience": "user:alice"}], ""),
        ([], "1 filters of alice tag m, and 0 tags"),
        ([TAGGED], "tags m for public"),
        ([TAGGED | {"audience": "user:alice"}, BACK], "and 0 tags"),
        ([TAGGED | {"audience": "user:alice", "annid": annid} for annid in "tv"], "and 2 tags"),
    ],
)
def test_filters_tag_what_they_find_in_private(tags, words):
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.size = 1", acts="label", acts_since=None)
    story.mail(BEGIN, {"msgid": "m"})
    story.notes(BEGIN + 1, *tags)
    acted(story, 1, "m", BEGIN, label="stands", annid="t")
    story.settle(BEGIN + HOUR)
    sentences = [str(finding) for finding in judge(story.entries) if finding.law == "tags"]
    assert any(words in said for said in sentences) if words else not sentences
