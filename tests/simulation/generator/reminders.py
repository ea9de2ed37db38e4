"""Reminders that people ask for of messages, unless somebody answers, and take back."""

from __future__ import annotations

from typing import Any

from tests.simulation.generator import letters
from tests.simulation.generator.cast import Cast
from tests.simulation.generator.desk import triage_steps

EVERY = ("", "", "0", "1", "3")
"""In how many days it comes back again."""


def remind(cast: Cast) -> None:
    """Have somebody be reminded of a message of their lists, or no more."""
    lots, person = cast.lots, cast.lots.choice(cast.names)
    listed = cast.listed(person)
    if not listed:
        return
    waiting = cast.reminded.get(person, [])
    sent: dict[str, Any] = {"id": lots.choice(waiting if waiting else listed)}
    if waiting and lots.random() < 0.3:
        sent["until"] = lots.choice(("never", "settled"))
        waiting.remove(sent["id"])
    else:
        sent["id"] = lots.choice(listed)
        sent |= {"until": "tomorrow"}
        if lots.random() < 0.7:
            sent |= {"until": "chosen", "chosen": letters.minute_of(cast, person)}
        sent["every"] = lots.choice(EVERY)
        cast.reminded.setdefault(person, []).append(sent["id"])
    ask_for(cast, person, sent)


def ask_for(cast: Cast, person: str, sent: dict[str, Any]) -> None:
    """Have somebody send the form of a reminder."""
    before = triage_steps(cast.world, person)
    answer = cast.request(person, "post", "/filters/remind/", sent)
    made = [step for step in triage_steps(cast.world, person) if step not in before]
    cast.steps.setdefault(person, []).extend(made)
    cast.note_outbox("page")
    cast.note_filters("recompiled", set())  # the filter of reminders may be a new one
    zone = str(cast.people[person].get("time_zone") or "UTC")
    told = {"person": person, "msgids": [sent.pop("id")], "zone": zone, **sent}
    cast.history.add("remind", **told, step_made=made, status=answer and answer["status"])
