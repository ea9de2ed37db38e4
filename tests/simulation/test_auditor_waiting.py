"""The auditor over a filter that waits: a silence is found as its sources are back."""

from __future__ import annotations

import pytest

from tests.simulation.auditor import judge
from tests.simulation.stories import Story

SILENT = "NOT EXISTS (r: r.inreplyto = m.msgid) AND m.received < now() - 0.00001 seconds"
QUESTION = {"msgid": "q", "audience": "user:alice"}
LATE = {"msgid": "l", "audience": "user:alice", "received": 6}


def found(at: int | None, late: int | None = None, upto: int = 38) -> list[str]:
    """Return what is found if alice's source was away from 7 to 40, and a question matched so."""
    story = Story()
    story.person("alice")
    story.filter(1, "alice", SILENT, waits=True)
    story.mail(5, QUESTION)
    story.mail(30, LATE)
    for msgid, matched_at in (("q", at), ("l", late)):
        if matched_at is not None:
            story.match(1, msgid, matched_at, audience="user:alice")
    if at == 40:
        story.mail(45, {"msgid": "a", "inreplyto": "l", "audience": "user:alice"})
    facts = [(1, "user:alice", 6, 7), (2, "user:bob", 0, 7), (1, "user:alice", upto, 40)]
    rows = [dict(zip(("source", "audience", "upto", "ts"), fact, strict=True)) for fact in facts]
    story.settle(46, f1={"waits_from": 7})
    clock = next(n for n, entry in enumerate(story.entries) if entry.get("kind") == "filters")
    story.entries.insert(clock, {"step": 0, "now": 46, "what": "seen", "kind": "complete"})
    story.entries[clock]["rows"] = rows
    return [str(finding) for finding in judge(story.entries)]


def test_what_was_silent_as_the_source_came_back_is_right() -> None:
    assert found(40, 40) == []
    assert found(None, None, upto=15) == [], "it is back, and not far enough"


@pytest.mark.parametrize("at", [16, 41])
def test_a_silence_at_another_instant_is_wrong(at: int) -> None:
    assert any("matched_at" in finding for finding in found(at, 40))


def test_a_silence_that_was_not_found_is_wrong() -> None:
    assert any("matched at" in finding for finding in found(None, 40))
