"""The auditor of what programs are told by a cursor: each match once, and all of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulation.auditor import judge
from tests.simulation.stories import Story

BEGIN = 20_000 * 86_400_000_000
SUBJECT = "m.subject = 'b'"
CAME, AGAIN = ["insert", "m", "t1"], ["insert", "m", "t2"]
LEFT = ["delete", "m", "t2"]


def judged(*readings: list[list[str]], **between: Any) -> list[str]:
    """Return what is found where a program is told so of a filter that has one message."""
    story = Story()
    story.person("alice")
    story.filter(1, "alice", SUBJECT)
    story.mail(BEGIN, {"msgid": "m", "subject": "b"})
    story.match(1, "m", BEGIN)
    told = {"filter": 1, "person": "alice", "reader": 1}
    for steps in readings[:-1]:
        story.tell("steps", **told, steps=steps, is_end=False)
    if between:
        story.tell(**between)
    story.settle(BEGIN + 9)
    story.tell("seen", kind="steps", **told, steps=readings[-1], is_end=True)
    return [str(one) for one in judge(story.entries) if one.law == "since a cursor"]


@pytest.mark.parametrize(
    ("readings", "words"),
    [
        ([[CAME]], ""),
        ([[CAME], []], ""),
        ([[CAME], [LEFT, AGAIN]], ""),
        ([[CAME], [AGAIN]], ""),
        ([[LEFT, CAME]], ""),
        ([[]], "lacks m of filter 1"),
        ([[CAME], [LEFT]], "lacks m of filter 1"),
        ([[CAME, ["insert", "n", "t1"]]], "still has n of filter 1"),
        ([[CAME], [CAME]], "is told twice of m"),
        ([[CAME, CAME]], "is told twice of m"),
    ],
)
def test_each_match_is_told_once(readings: list[list[list[str]]], words: str) -> None:
    found = judged(*readings)
    assert len(found) == bool(words) and all(words in text for text in found)


def test_what_is_forgotten_is_told_to_nobody() -> None:
    forgotten = {"what": "upkeep", "kind": "forget", "audience": "public", "before": None}
    assert judged([CAME, ["insert", "n", "t1"]], [], **forgotten) == []
