"""The auditor of reminders: when a message is back, and when it is not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulation.auditor import judge
from tests.simulation.stories import Story

HOUR = 3_600_000_000
DAY = 24 * HOUR
BEGIN = 20_000 * DAY
NINE = "2024-10-04T09:00"
"""Nine hours after BEGIN, at UTC."""

ANSWERED = "EXISTS (r: r.inreplyto = m.msgid)"


def judged(
    now: int,
    *shown: str,
    every: str = "",
    answered: int = 0,
    until: str = "chosen",
    snoozed: int = 0,
    early: str = "",
) -> str:
    """Return what is found where these are in the inbox then; ``answered`` is when that was.

    ``snoozed`` is until when its owner snoozed it by hand, after they asked for the reminder.
    ``early``: it is answered before, so never found by the filter of reminders, which says so.
    """
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.subject = 'b'")
    story.filter(2, "alice", f"NOT {ANSWERED}", live=True, name="reminders", text=early)
    story.mail(BEGIN, {"msgid": "m", "subject": "b"})
    story.match(1, "m", BEGIN)
    if not early:
        waits = story.match(2, "m", BEGIN)
    story.settle(BEGIN + 1)
    story.now = BEGIN + 2
    asked = {"msgids": ["m"], "zone": "UTC", "chosen": NINE, "every": every, "until": "chosen"}
    story.tell("remind", person="alice", **asked, step_made=["1"], status=302)
    if snoozed:
        act = {"kind": "snooze", "msgids": ["m"], "until": snoozed}
        story.tell("act", person="alice", **act, step_made=["3"], status=302)
    if until != "chosen":
        asked["until"] = until
        story.tell("remind", person="alice", **asked, step_made=["2"], status=302)
    story.settle(BEGIN + 3)
    if answered:
        story.mail(answered, {"msgid": "r", "inreplyto": "m"})
        story.match(2, "r", answered)
        waits["retracted_at"] = answered
    story.settle(now)
    story.page("alice", "inbox", "", *shown)
    return "; ".join(str(one) for one in judge(story.entries) if one.law == "lists")


@pytest.mark.parametrize(
    ("now", "shown", "more", "words"),
    [
        (BEGIN + HOUR, (), {}, ""),
        (BEGIN + HOUR, ("m",), {}, "shows m"),
        (BEGIN + 10 * HOUR, ("m",), {}, ""),
        (BEGIN + 10 * HOUR, (), {}, "lacks m"),
        (BEGIN + 2 * HOUR, ("r", "m"), {"answered": BEGIN + HOUR}, ""),
        (BEGIN + 2 * HOUR, ("r",), {"answered": BEGIN + HOUR}, "lacks m"),
        (BEGIN + HOUR, ("m",), {"until": "settled"}, ""),
        (BEGIN + HOUR, (), {"until": "never"}, "lacks m"),
        (BEGIN + HOUR, ("m",), {"until": "never", "snoozed": BEGIN + DAY}, "shows m"),
        (BEGIN + HOUR, (), {"until": "never", "snoozed": BEGIN + DAY}, ""),
        (BEGIN + HOUR, ("m",), {"early": "tagged remind by me"}, ""),
        (BEGIN + HOUR, (), {"early": "tagged remind by me"}, "lacks m"),
        (BEGIN + HOUR, ("m",), {"early": "from nobody"}, "shows m"),
        (BEGIN + HOUR, (), {"early": "tagged remind by me", "snoozed": BEGIN + DAY}, ""),
        (BEGIN + 34 * HOUR, ("m",), {"every": "1"}, ""),
        (BEGIN + 34 * HOUR, (), {"every": "1"}, "lacks m"),
    ],
)
def test_a_message_is_back_then(
    now: int, shown: tuple[str, ...], more: dict[str, Any], words: str
) -> None:
    found = judged(now, *shown, **more)
    assert words in found if words else not found


@pytest.mark.parametrize("acts", ["{}", '{"done": "stands"}'])
def test_what_is_found_as_its_reminder_is_given_up_may_be_done_or_not(acts: str) -> None:
    story = Story()
    story.person("alice")
    story.filter(1, "alice", ANSWERED, acts="done", acts_since=BEGIN - 1)
    story.filter(2, "alice", f"NOT {ANSWERED}", live=True, name="reminders")
    story.mail(BEGIN, {"msgid": "m"})
    waits = story.match(2, "m", BEGIN)
    story.settle(BEGIN + 1)
    story.now = BEGIN + 2
    asked = {"msgids": ["m"], "zone": "UTC", "chosen": NINE, "every": "", "until": "chosen"}
    story.tell("remind", person="alice", **asked, step_made=["1"], status=302)
    story.settle(BEGIN + 3)
    story.mail(BEGIN + HOUR, {"msgid": "r", "inreplyto": "m"})
    story.match(2, "r", BEGIN + HOUR)
    waits["retracted_at"] = BEGIN + HOUR
    story.match(1, "m", BEGIN + HOUR, acts=acts, acted_at=None if acts == "{}" else BEGIN + HOUR)
    story.settle(BEGIN + 2 * HOUR)
    assert [str(wrong) for wrong in judge(story.entries) if wrong.law == "acts"] == []
