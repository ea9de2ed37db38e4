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
