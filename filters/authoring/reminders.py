"""Reminders of what nobody has answered: a tag, a snoozed message, and a live filter.

    remind ── tag “remind” ─> in the filter Reminders ─ answered ─> out of it
         └─── snoozed until then: in no list before

So an answer ends a reminder as it ends any match of a live filter, and nothing has to run for it.
"""

from __future__ import annotations

from typing import Any

from filters.authoring import ready_made
from filters.inbox.lists.cards import CopyKey
from filters.inbox.triage.actions import ACTIONS
from filters.inbox.triage.steps import act
from filters.inbox.triage.targets import named_targets
from filters.people.models import User
from filters.reading.annotations import opinions

REMIND, SETTLED = "remind", "settled"
"""Tags of the person alone, by which the ready-made filters go."""


def remind(user: User, message: CopyKey, until: int) -> None:
    """Bring a message back at an instant, unless somebody has answered it by then.

    Raise TapestryError if the person has as many filters as are allowed.
    """
    ready_made.add(user, ready_made.REMINDERS)
    _tag(user, message, SETTLED, take_back=True)
    _tag(user, message, REMIND)
    star = ACTIONS["star"]  # as it, this is for what is in no list as well
    act(user, ACTIONS["snooze"], named_targets(user, star, [message]), until)


def forget(user: User, message: CopyKey, *, settled: bool = False) -> None:
    """Take a reminder back; ``settled``: nothing more is to come, so it is waited for nowhere."""
    _tag(user, message, REMIND, take_back=True)
    if settled:
        _tag(user, message, SETTLED)
    act(user, ACTIONS["unsnooze"], named_targets(user, ACTIONS["star"], [message]))


def _tag(user: User, message: CopyKey, tag: str, *, take_back: bool = False) -> None:
    given: dict[str, Any] = {"kind": "tag", "number": None, "private": True}
    given |= {"value": "", "take_back": tag} if take_back else {"value": tag, "take_back": ""}
    opinions.keep(user, message.msgid, message.audience, given)
