"""The auditor says from mail who owes an answer, and finds each list that says another."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulation.auditor.lives import Life
from tests.simulation.auditor.owing import OWED, WAITING, judge_owing
from tests.simulation.auditor.story import Known, points
from tests.simulation.stories import Story

MINE, THEIRS = "mary@x.org", "bill@y.org"
QUESTION: dict[str, Any] = {"msgid": "q", "sender": THEIRS, "to": [MINE], "questions": 1}
ASKED = QUESTION | {"sender": MINE, "to": [THEIRS]}
ANSWER: dict[str, Any] = {"msgid": "r", "inreplyto": "q", "sender": MINE}
LACKS, HAS = "lacks msgid 'q'", "of which nobody waits"


def judged(text: str, *rows: dict[str, Any], there: bool) -> list[str]:
    story, whole = Story(), {"automatic": None, "questions": 0}
    story.person("alice", email=MINE)
    story.mail(5, *(whole | row for row in rows))
    story.filter(1, "alice", "", text=text, name="answers", live=True)
    if there:
        story.match(1, "q", 5)
    story.settle(9)
    (point,) = points(story.entries)
    known = Known()
    known.people["alice"] = story.entries[0]
    known.look(point)
    point.entries = point.entries[1:]
    lives = {1: Life(story.filters[1])}
    return [finding.sentence for finding in judge_owing(point, lives, known)]


@pytest.mark.parametrize(
    ("text", "rows", "waits"),
    [
        (OWED, [QUESTION], True),
        (OWED, [QUESTION, ANSWER | {"automatic": "reply"}], True),
        (OWED, [QUESTION, ANSWER | {"sender": "joe@x.org"}], True),
        (OWED, [QUESTION, ANSWER], False),
        (OWED, [QUESTION | {"automatic": "list"}], False),
        (OWED, [QUESTION | {"sender": MINE}], False),
        (OWED, [QUESTION | {"to": [THEIRS]}], False),
        (WAITING, [ASKED], True),
        (WAITING, [ASKED, ANSWER], True),
        (WAITING, [ASKED, ANSWER | {"sender": THEIRS, "automatic": "reply"}], True),
        (WAITING, [ASKED, ANSWER | {"sender": THEIRS}], False),
        (WAITING, [ASKED | {"questions": 0}], False),
        (WAITING, [ASKED | {"newsgroups": ["comp.sys"]}], False),
    ],
)
def test_who_waits_for_an_answer(text: str, rows: list[dict[str, Any]], waits: bool) -> None:
    assert not judged(text, *rows, there=waits)
    (said,) = judged(text, *rows, there=not waits)
    assert (LACKS if waits else HAS) in said


def test_of_copies_to_others_nobody_is_sure() -> None:
    copied = QUESTION | {"cc": ["joe@x.org"]}
    assert not judged(OWED, copied, there=True)
    assert not judged(OWED, copied, there=False)
