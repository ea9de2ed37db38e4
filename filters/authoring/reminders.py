"""Reminders of what nobody has answered: a tag, a snoozed message, and a live filter.

    remind ── tag “remind” ─> in the filter Reminders ─ answered ─> out of it
         └─── snoozed until then: in no list before
         └─── Reminder ─ out of the filter ─> not snoozed any more
                       └ due, and repeated ─> snoozed until now

So an answer ends a reminder as it ends any match of a live filter: what comes back needs nothing to
run.  Once a minute what is answered leaves the snoozed, and what is repeated comes back again.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Concat

from filters.authoring import ready_made
from filters.authoring.models import Filter, Reminder
from filters.inbox.lists.cards import CopyKey
from filters.inbox.models import Match, MessageState
from filters.inbox.triage.actions import ACTIONS
from filters.inbox.triage.steps import act
from filters.inbox.triage.targets import named_targets
from filters.people.models import User
from filters.reading.annotations import opinions
from filters.reading.models import OutboxAnnotation
from filters.runs.models import SetAside
from filters.site.work import set_aside
from tapestry.core.clock import to_datetime, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.core.message import PUBLIC
from tapestry.deliver.timing.local_time import local_instant

MESSAGE, PART = SetAside.Kind.MESSAGE, "reminder"

REMIND, SETTLED = "remind", "settled"
"""Tags of the person alone, by which the ready-made filters go."""

EVERY = {0: "once", 1: "each day", 3: "every 3 days", 7: "each week", 14: "every 2 weeks"}
"""In how many days a reminder is repeated, and in words; 0 is never."""

AT_ONCE = 1000
"""Reminders that one task brings back, or ends, at most."""


def remind(user: User, message: CopyKey, until: int, every: int = 0) -> None:
    """Bring a message back at an instant, unless somebody has answered it by then.

    Again after ``every`` so many days, until it is answered; 0 is once.  Raise TapestryError if the
    person has as many filters as are allowed.
    """
    ready_made.add(user, ready_made.REMINDERS)
    made: dict[str, Any] = {"audience": message.audience, "every": every, "first": until}
    made |= {"until": until, "next_at": _after(until, until, every, user), "made_at": wall_clock()}
    Reminder.objects.update_or_create(owner=user, msgid=message.msgid, defaults=made)
    _tag(user, message, SETTLED, take_back=True)
    _tag(user, message, REMIND)
    _snooze(user, message, until)


def forget(user: User, message: CopyKey, *, settled: bool = False) -> None:
    """Take a reminder back; ``settled``: nothing more is to come, so it is waited for nowhere."""
    _tag(user, message, REMIND, take_back=True)
    if settled:
        _tag(user, message, SETTLED)
    row = Reminder.objects.filter(owner=user, msgid=message.msgid).first()
    if row is not None:
        _end(row.pk, "unsnooze")


def read_every(text: str) -> int:
    """Return in how many days a reminder is repeated as a form says it; raise TapestryError."""
    every = int(text) if text.isascii() and text.isdecimal() and len(text) < 4 else 0
    if every not in EVERY or (text and not every and text != "0"):
        raise TapestryError("Choose how often it comes back.", hint="Choose one of the list.")
    return every


def bring_back() -> int:
    """Bring back what is repeated and due, and end what is answered; return how many came back.

    One that raises an error is set aside, and holds up no other.  One of a message that its person
    may not see now, as they have left a group, waits until they do.
    """
    rows = Reminder.objects.filter(_is_seen(), owner__is_active=True)
    matches = _found(OuterRef("owner"), OuterRef("msgid"))
    matches = matches.filter(retracted_at__gt=OuterRef("made_at"))  # not that of an earlier one
    answered = rows.filter(Q(Exists(matches)) | _was_answered()).order_by("pk")
    due = rows.filter(next_at__lte=wall_clock()).exclude(_is_unknown()).order_by("next_at")
    aside, came = set_aside.of(MESSAGE), 0
    for key in _keys(answered, aside):
        with aside.guard(f"{key}/{PART}"):
            _end(key, "unsnooze", "read")
    for key in _keys(due, aside):
        with aside.guard(f"{key}/{PART}"):
            came += _bring_back(key)
    return came


def _is_seen() -> Q:
    """Return the condition that a person may see the message of a reminder."""
    own = Concat(Value("user:"), F("owner__username"))
    groups = Group.objects.filter(user=OuterRef("owner")).annotate(
        seen=Concat(Value("group:"), F("name"))
    )
    is_of_group = Exists(groups.filter(seen=OuterRef("audience")))
    return Q(audience=PUBLIC) | Q(audience=own) | Q(is_of_group)


def _is_unknown() -> Q:
    """Return the condition that a repeated reminder was not looked at yet by its filter."""
    behind = _filters().filter(active=True, since__lt=OuterRef("next_at"))
    return Q(Exists(behind), ~Exists(_waits()), every__gt=0)


def _was_answered() -> Q:
    """Return the condition that filters have looked at a reminder, and what is answered by then."""
    of_message = {"owner": OuterRef(OuterRef("owner")), "msgid": OuterRef(OuterRef("msgid"))}
    tags = OutboxAnnotation.objects.filter(**of_message, kind="tag", value=REMIND)
    tags = tags.exclude(appended_at__lte=OuterRef("since"))
    filters = _filters()
    behind = filters.filter(
        Q(active=False)
        | ~Q(error="")
        | Q(since__lt=OuterRef("made_at"))
        | Q(pending_windows__gt=0)
        | Exists(tags)
    )
    return Q(Exists(filters), ~Exists(behind), ~Exists(_waits()))


def _filters() -> QuerySet[Filter]:
    return Filter.objects.filter(**ready_made.OF_REMINDERS, owner=OuterRef("owner"))


def _waits() -> QuerySet[Match]:
    return _found(OuterRef("owner"), OuterRef("msgid")).filter(retracted_at=None)


def _found(owner: Any, msgid: Any) -> QuerySet[Match]:
    """Return a message as the filters of its owner found it that reminders go by."""
    of_filters = {f"filter__{name}": value for name, value in ready_made.OF_REMINDERS.items()}
    return Match.objects.filter(**of_filters, filter__owner=owner, msgid=msgid)


def _keys(rows: QuerySet[Reminder], aside: set_aside.Aside) -> list[int]:
    waiting = rows.exclude(pk__in=aside.waiting_for(PART))
    return list(waiting.values_list("pk", flat=True)[:AT_ONCE])


@transaction.atomic
def _end(key: int, *actions: str) -> None:
    """End a reminder, with actions on what is snoozed for it alone: that waits no more."""
    row = _locked(key)
    if row is not None:
        state = MessageState.objects.of_messages(row.owner, [row.msgid]).get(row.msgid)
        if state is not None and state.snoozed_until == row.until > wall_clock():
            targets = named_targets(row.owner, ACTIONS["star"], [_copy(row)])
            for name in actions:
                act(row.owner, ACTIONS[name], targets)
        row.delete()


def _locked(key: int) -> Reminder | None:
    rows = Reminder.objects.select_for_update(of=("self",)).select_related("owner")
    return rows.filter(pk=key).first()


def _copy(row: Reminder) -> CopyKey:
    return CopyKey(row.msgid, row.audience)


@transaction.atomic
def _bring_back(key: int) -> bool:
    row = _locked(key)
    if row is None or row.next_at > wall_clock():
        return False
    waits = _found(row.owner, row.msgid).filter(retracted_at=None)
    if not row.every or not waits.exists():
        row.delete()  # what was snoozed is back by itself
        return False
    state = MessageState.objects.of_messages(row.owner, [row.msgid]).get(row.msgid)
    is_snoozed = state is not None and (state.snoozed_until or 0) > wall_clock()
    if not is_snoozed:
        row.until = row.next_at
        _snooze(row.owner, _copy(row), row.until)
        event("reminded", reminder=key)
    row.next_at = _after(wall_clock(), row.first, row.every, row.owner)
    row.save(update_fields=["until", "next_at"])
    return not is_snoozed


def _after(instant: int, first: int, every: int, owner: User) -> int:
    """Return when it comes back next after an instant, so many days after the first, or twice, ….

    At the local time of the first, though one between had none such, as clocks were put forward.
    """
    zone: ZoneInfo = owner.zone
    local, following = to_datetime(first).astimezone(zone).replace(tzinfo=None), first
    while every and following <= instant:
        local += timedelta(days=every)
        following = local_instant(local, zone)
    return following


def _snooze(user: User, message: CopyKey, until: int) -> None:
    star = ACTIONS["star"]  # as it, this is for what is in no list as well
    act(user, ACTIONS["snooze"], named_targets(user, star, [message]), until)


def _tag(user: User, message: CopyKey, tag: str, *, take_back: bool = False) -> None:
    given: dict[str, Any] = {"kind": "tag", "number": None, "private": True}
    given |= {"value": "", "take_back": tag} if take_back else {"value": tag, "take_back": ""}
    opinions.keep(user, message.msgid, message.audience, given)
