"""The actions on messages: what each sets, and how it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Field = Literal["done_at", "starred_at", "snoozed_until", "skipped_at", "pinned_at"]
Value = Literal["now", "until", None]
"""What a field is set to: the instant of the step, a chosen instant, or null."""


@dataclass(frozen=True, slots=True)
class Action:
    """An action: the fields that it sets, whether it makes read or unread, mutes or unmutes.

    ``result`` says what was done with ``{}`` messages.  ``hides``: the messages leave the list
    in which they are.  ``listed_only``: it is for messages that a filter of the person found.
    """

    name: str
    result: str
    sets: tuple[tuple[Field, Value], ...] = ()
    reads: bool | None = None
    mutes: bool | None = None
    hides: bool = False
    listed_only: bool = True


ACTIONS = {
    action.name: action
    for action in (
        Action(
            "done",
            "{} done.",
            sets=(("done_at", "now"), ("snoozed_until", None), ("pinned_at", None)),
            reads=True,
            hides=True,
        ),
        Action(
            "inbox",
            "{} back in your lists.",
            sets=(("done_at", None), ("skipped_at", None)),
            hides=True,
        ),
        Action("star", "{} starred.", sets=(("starred_at", "now"),), listed_only=False),
        Action("unstar", "{} no longer starred.", sets=(("starred_at", None),), listed_only=False),
        Action("pin", "{} put at the top of the inbox.", sets=(("pinned_at", "now"),)),
        Action("unpin", "{} no longer at the top.", sets=(("pinned_at", None),)),
        Action("read", "{} marked read.", reads=True),
        Action("unread", "{} marked unread.", reads=False),
        Action(
            "snooze",
            "{} snoozed until {until}.",
            sets=(("snoozed_until", "until"), ("done_at", None), ("skipped_at", None)),
            reads=False,
            hides=True,
        ),
        Action("unsnooze", "{} back in your lists.", sets=(("snoozed_until", None),), hides=True),
        Action("mute", "{} muted, with the rest of the thread.", mutes=True, hides=True),
        Action("unmute", "{} no longer muted.", mutes=False, hides=True),
    )
}
"""By name, as forms send it."""
