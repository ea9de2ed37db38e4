"""Reminders of what nobody has answered: a tag, a snoozed message, and a live filter.

    remind ── tag “remind” ─> in the filter Reminders ─ answered ─> out of it
         └─── snoozed until then: in no list before
         └─── Reminder, if it is repeated ─ due ─> snoozed until now, unless it is out of the filter

So an answer ends a reminder as it ends any match of a live filter, and nothing has to run for it,
but for what is repeated.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db import transaction

from filters.authoring import ready_made
from filters.authoring.models import Reminder
from filters.inbox.lists.cards import CopyKey
from filters.inbox.models import Match, MessageState
from filters.inbox.triage.actions import ACTIONS
from filters.inbox.triage.steps import act
from filters.inbox.triage.targets import named_targets
from filters.people.models import User
from filters.reading.annotations import opinions
from tapestry.core.clock import to_datetime, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.deliver.timing.local_time import local_instant

log = logging.getLogger(__name__)

REMIND, SETTLED = "remind", "settled"
"""Tags of the person alone, by which the ready-made filters go."""

EVERY = {0: "once", 1: "each day", 3: "every 3 days", 7: "each week", 14: "every 2 weeks"}
"""In how many days a reminder is repeated, and in words; 0 is never."""

AT_ONCE = 1000
"""Repeated reminders that one task brings back at most."""


def remind(user: User, message: CopyKey, until: int, every: int = 0) -> None:
    """Bring a message back at an instant, unless somebody has answered it by then.

    Again after ``every`` so many days, until it is answered; 0 is once.  Raise TapestryError if the
    person has as many filters as are allowed.
    """
    ready_made.add(user, ready_made.REMINDERS)
    again = {"audience": message.audience, "every": every, "next_at": _after(until, every, user)}
    if every:
        Reminder.objects.update_or_create(owner=user, msgid=message.msgid, defaults=again)
    else:
        Reminder.objects.filter(owner=user, msgid=message.msgid).delete()
    _tag(user, message, SETTLED, take_back=True)
    _tag(user, message, REMIND)
    _snooze(user, message, until)


def forget(user: User, message: CopyKey, *, settled: bool = False) -> None:
    """Take a reminder back; ``settled``: nothing more is to come, so it is waited for nowhere."""
    Reminder.objects.filter(owner=user, msgid=message.msgid).delete()
    _tag(user, message, REMIND, take_back=True)
    if settled:
        _tag(user, message, SETTLED)
    act(user, ACTIONS["unsnooze"], named_targets(user, ACTIONS["star"], [message]))


def read_every(text: str) -> int:
    """Return in how many days a reminder is repeated as a form says it; raise TapestryError."""
    every = int(text) if text.isascii() and text.isdecimal() and len(text) < 4 else 0
    if every not in EVERY or (text and not every and text != "0"):
        raise TapestryError("Choose how often it comes back.", hint="Choose one of the list.")
    return every


def bring_back() -> int:
    """Bring back what is repeated and due, and forget what is answered; return how many came back.

    One that raises an error is tried again the next time, and holds up no other.
    """
    due = Reminder.objects.filter(next_at__lte=wall_clock(), owner__is_active=True)
    back = 0
    for key in list(due.order_by("next_at").values_list("pk", flat=True)[:AT_ONCE]):
        try:
            back += _bring_back(key)
        except Exception:
            log.exception("reminder %s does not come back", key)
            _put_off(key)
    return back


@transaction.atomic
def _bring_back(key: int) -> bool:
    rows = Reminder.objects.select_for_update(of=("self",)).select_related("owner")
    row = rows.filter(pk=key, next_at__lte=wall_clock()).first()
    if row is None:
        return False
    name = ready_made.REMINDERS.name
    waits = Match.objects.filter(filter__owner=row.owner, filter__name=name, retracted_at=None)
    if not waits.filter(msgid=row.msgid).exists():
        row.delete()
        return False
    state = MessageState.objects.of_messages(row.owner, [row.msgid]).get(row.msgid)
    at, is_snoozed = row.next_at, bool(state and (state.snoozed_until or 0) > wall_clock())
    _put_off(row.pk)
    if not is_snoozed:
        _snooze(row.owner, CopyKey(row.msgid, row.audience), at)
        event(log, "reminded", reminder=key)
    return not is_snoozed


def _put_off(key: int) -> None:
    """Let a reminder be due the next time that is still to come."""
    row = Reminder.objects.select_related("owner").get(pk=key)
    now = wall_clock()
    while row.next_at <= now:
        row.next_at = _after(row.next_at, row.every, row.owner)
    row.save(update_fields=["next_at"])


def _after(instant: int, days: int, owner: User) -> int:
    """Return the instant of the same local time so many days later."""
    zone: ZoneInfo = owner.zone
    local = to_datetime(instant).astimezone(zone).replace(tzinfo=None)
    return local_instant(local + timedelta(days=days), zone)


def _snooze(user: User, message: CopyKey, until: int) -> None:
    star = ACTIONS["star"]  # as it, this is for what is in no list as well
    act(user, ACTIONS["snooze"], named_targets(user, star, [message]), until)


def _tag(user: User, message: CopyKey, tag: str, *, take_back: bool = False) -> None:
    given: dict[str, Any] = {"kind": "tag", "number": None, "private": True}
    given |= {"value": "", "take_back": tag} if take_back else {"value": tag, "take_back": ""}
    opinions.keep(user, message.msgid, message.audience, given)
