"""The auditor of beats: what a webhook was promised to have been sent has been."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulation.auditor.beats import judge_beats
from tests.simulation.auditor.story import points
from tests.simulation.stories import Story

T1, T2 = "2026-01-31T12:00:00Z", "2026-01-31T12:00:01Z"
LATER = ("1 delivery comes later.",)
NEVER = 1 << 62
SETTLING = {"what": "settling"}


def beat(until: str | None, *waits_for: str, later: tuple[str, ...] = ()) -> dict[str, Any]:
    payload = {"matches": [], "complete_until": until}
    return _received(payload | {"waits_for": list(waits_for), "later": list(later)})


def sent(
    op: str = "insert", at: str = T1, *, sequence: int = 1, accepted: bool = True
) -> dict[str, Any]:
    match = {
        "op": op,
        "msgid": "m",
        "matched_at": at,
        "sequence": sequence,
        "url": "http://x/m/?id=m",
    }
    return _received({"matches": [match]}) | {"accepted": accepted}


def _received(payload: dict[str, Any]) -> dict[str, Any]:
    entry = {"what": "received", "endpoint": "http", "accepted": True, "message_id": "other"}
    return entry | {"path": "/hook/1", "payload": payload}


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ([sent(), beat(T1)], ""),
        ([beat(T1), sent()], "told to have all until 2026-01-31T12:00:00.000000Z, and then sent m"),
        ([beat(T2), sent()], "and then sent m"),
        ([beat(T1), sent(at=T2)], ""),
        ([beat(None, "A run is not there yet."), sent(), beat(T1)], ""),
        ([beat(T1, later=LATER), sent()], ""),
        ([beat(T1, later=("2 matches are shown later.",)), sent()], "and then sent m"),
        ([beat(T1), sent(sequence=2)], ""),
        ([beat(T1), sent("delete")], ""),
        ([beat(T1), sent(accepted=False)], ""),
        ([beat(T1), SETTLING, sent()], ""),
        ([sent(), beat(None, "1 delivery is under way.")], "is told at rest: 1 delivery"),
    ],
)
def test_what_a_beat_promises_was_sent(entries: list[dict[str, Any]], words: str) -> None:
    story = Story()
    story.matches = [
        {"filter": 1, "sequence": 1, "shown_at": 0},
        {"filter": 1, "sequence": 2, "shown_at": NEVER},
    ]
    for entry in [SETTLING, *entries]:
        story.tell(**entry)
    story.settle(9)
    (point,) = points(story.entries)
    findings = [str(finding) for finding in judge_beats(point)]
    assert len(findings) == bool(words) and all(words in text for text in findings)
