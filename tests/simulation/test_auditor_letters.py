"""The auditor of letters for later: what it finds, and what it lets be."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulation.auditor.letters import Letters
from tests.simulation.auditor.story import points

HOUR = 3_600_000_000
ROW = {"uid": "u", "person": "alice", "state": "queued", "send_at": HOUR, "message_id": "a@x"}
WRITTEN = {"what": "letter", "by": "page", "uid": "u", "kind": "write", "status": 302, "row": ROW}
TIME = {"zone": "Europe/Berlin", "chosen": "1970-01-01T02:00"}


def judged(*entries: dict[str, Any], now: int = 2 * HOUR, state: str = "sent") -> list[str]:
    end = [{"what": "letters", "rows": [{**ROW, "state": state}]}, {"what": "settled"}]
    story = [{"step": 1, "now": now, **entry} for entry in [{**WRITTEN, **TIME}, *entries, *end]]
    letters = Letters()
    return [finding.sentence for point in points(story) for finding in letters.judge(point)]


def taken(now: int, answer: str = "ok", **headers: str) -> dict[str, Any]:
    about = {"endpoint": "smtp", "accepted": True, "message_id": "<a@x>"}
    return {
        "what": "received",
        "answer": answer,
        "now": now,
        "payload": {"headers": headers},
        **about,
    }


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ([taken(HOUR)], None),
        ([taken(HOUR), taken(HOUR, **{"Resent-Message-ID": "<f@x>"})], None),
        ([taken(HOUR - 1)], "before"),
        ([taken(HOUR), taken(HOUR)], "was sent 2 times"),
        ([taken(HOUR, "accept, then cut"), taken(HOUR)], None),
        ([taken(HOUR), {"what": "fault", "kind": "crashed"}, taken(HOUR)], None),
        ([], "was to be sent"),
        ([{**WRITTEN, **TIME, "chosen": "1970-01-01T03:00"}, taken(HOUR)], "waits until"),
    ],
)
def test_a_letter_is_sent_once_and_then(entries: list[dict[str, Any]], words: str | None) -> None:
    found = judged(*entries)
    assert len(found) == (words is not None) and all(words in text for text in found)


def test_what_waits_for_its_time_and_what_was_taken_back_are_right() -> None:
    assert judged(now=HOUR - 1, state="queued") == []
    back = {**WRITTEN, **TIME, "kind": "take back", "row": {**ROW, "state": "draft"}}
    assert judged(back, state="draft") == []
    assert any("had been taken back" in text for text in judged(back, taken(HOUR), state="draft"))
    program = {**back, "by": "jmap", "status": 200, "row": ROW}
    assert any("waits to be sent" in text for text in judged(program, taken(HOUR)))


@pytest.mark.parametrize(
    ("text", "html", "words"),
    [
        ("*Soon*, or\r\n[we](https://x.org)", "<em>Soon</em>, or <a href=x>we</a>", None),
        ("Soon", "<em>Soon</em>, or <a href=x>we</a>", "was written"),
        ("*Soon*, or\r\n[we](https://x.org)", "", "no HTML"),
        ("*Soon*, or\r\n[we](https://x.org)", "*Soon*, or we", "looks as"),
        ("*Soon*, or\r\n[we](https://x.org)", "<em>Soon</em>", "looks as"),
    ],
)
def test_a_formatted_letter_has_its_text_and_the_same_as_html(
    text: str, html: str, words: str | None
) -> None:
    body = "*Soon*, or\n[we](https://x.org)"
    letter = {**WRITTEN, **TIME, "body": body, "formatted": True}
    came = taken(HOUR)
    came["payload"] |= {"text": text, "html": html}
    found = judged(letter, came)
    assert len(found) == (words is not None) and all(words in said for said in found)
