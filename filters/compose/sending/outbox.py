"""The transactional outbox of what people have sent off, until all is done.

    queue ─ a time to undo ─ claim ─> steps (filters.compose.sending.steps)

It is sent in ten seconds, or when its writer says; until then it can be undone.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Count, F, Q

from filters.authoring import ready_made
from filters.compose.drafting.drafts import ChangedElsewhereError
from filters.compose.drafting.letters import FieldError, seal, stored_raw
from filters.compose.models import OutgoingMessage
from filters.compose.sending.limits import count_message
from filters.compose.sending.steps import take_steps
from filters.delivery.dispatch import holder
from filters.people.models import User
from filters.runs.models import Heartbeat, SetAside
from filters.site.work import clock_step, set_aside
from tapestry.core.clock import DAY, SECOND, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.log import event

UNDO = 10
"""Seconds until what was sent off is sent: so long it can be undone."""

KEPT = 30 * DAY
"""How long the list shows what was sent; the messages themselves stay."""

MOST_SCHEDULED = 100
"""Messages of a person that may wait for their time."""

MOST_OF_ONE = 2
"""Messages of a person that are sent at a time: their slow server holds up no other's."""

State = OutgoingMessage.State

MESSAGE, PART = SetAside.Kind.MESSAGE, "outgoing"


def queue(draft: OutgoingMessage, send_at: int | None = None, *, is_new: bool = True) -> None:
    """Send a draft off, in ten seconds or at ``send_at``; it is counted if it ``is_new``.

    Raise FieldError or TapestryError if it cannot be sent.
    """
    sealed, now = seal(draft, send_at), wall_clock()
    waiting = OutgoingMessage.objects.filter(owner=draft.owner, state=State.QUEUED)
    if send_at is not None and waiting.filter(send_at__gt=now).count() >= MOST_SCHEDULED:
        raise TapestryError(
            f"{MOST_SCHEDULED} messages of yours wait for their time, as many as may.",
            hint="This one is kept as a draft.",
        )
    _offer_reminder(draft, send_at or now)
    if is_new:
        count_message(draft.owner)
    changes: dict[str, Any] = {
        "state": State.QUEUED,
        "message_id": sealed.message_id,
        "raw": sealed.raw,
        "pending": list(sealed.recipients),
        "news_source": sealed.news_source,
        "refused": {},
        "due_at": send_at or now + UNDO * SECOND,
        "send_at": send_at,
        "failures": 0,
        "failing_since": None,
        "error": "",
        "changed_at": now,
    }
    rows = OutgoingMessage.objects.filter(pk=draft.pk, state=State.DRAFT, version=draft.version)
    if not rows.update(**changes):
        raise ChangedElsewhereError(
            "This draft was changed in another window, so it was not sent.",
            hint="Look at it again.",
        )
    event("queued", message=draft.pk)


def _offer_reminder(draft: OutgoingMessage, sent_at: int) -> None:
    """See to it that a reminder can be made as a letter is sent; raise TapestryError if not."""
    if draft.remind_at is None:
        return
    if draft.remind_at <= sent_at:
        words = "You would be reminded of the message before it is sent."
        raise FieldError("remind_by", TapestryError(words, hint="Choose a later time."))
    ready_made.add(draft.owner, ready_made.REMINDERS)


def undo(row: OutgoingMessage) -> bool:
    """Make a draft again of what nobody is known to have got; return False if it is too late."""
    waiting = OutgoingMessage.objects.filter(
        pk=row.pk, state__in=(State.QUEUED, State.REFUSED), holder="", sent_at=None, posted_at=None
    )
    changes: dict[str, Any] = {"pending": [], "refused": {}, "error": ""}
    now = wall_clock()
    with transaction.atomic():
        is_undone = waiting.update(state=State.DRAFT, due_at=None, changed_at=now, **changes)
        # What a server may have taken is compared when it is sent again (letters.seal).
        drafts = OutgoingMessage.objects.filter(pk=row.pk, state=State.DRAFT, unanswered_at=None)
        drafts.update(raw=None, message_id="")
    return bool(is_undone)


@transaction.atomic
def reschedule(row: OutgoingMessage, send_at: int | None) -> bool:
    """Have a message that waits for its time sent at another, or in ten seconds.

    Return False if it is too late.  Raise TapestryError if it cannot be sent: it waits as before.
    """
    if not row.is_scheduled or not undo(row):
        return False
    row.refresh_from_db()
    queue(row, send_at, is_new=False)
    return True


def send_again(row: OutgoingMessage) -> bool:
    """Try the recipients again that were refused; return False if there is nothing to be tried.

    It counts as a message: raises TapestryError if there were too many of late.
    """
    again = [*row.pending, *(address for address in row.refused if address not in row.pending)]
    if not stored_raw(row) or not (row.state == State.REFUSED or row.refused):
        return False
    count_message(row.owner)
    rows = OutgoingMessage.objects.filter(pk=row.pk, state=row.state, holder="")
    rows = rows.filter(pending=row.pending)  # nobody has got it since this was read
    changes = {"pending": again, "refused": {}, "failures": 0, "failing_since": None, "error": ""}
    return bool(rows.update(state=State.QUEUED, due_at=wall_clock(), **changes))


def due() -> list[int]:
    """Return the keys of what is due, the longest first, and of each person a few."""
    free_abandoned()
    set_aside.wake(MESSAGE, OutgoingMessage.objects.filter(holder=""), PART)
    clock_step.look(Heartbeat.OUTBOX, _have_all_be_due)
    rows = OutgoingMessage.objects.filter(due_at__lte=wall_clock(), holder="")
    waiting = rows.filter(owner__is_active=True).order_by("due_at", "pk")
    under_way = OutgoingMessage.objects.exclude(holder="").order_by()
    counts = dict(under_way.values_list("owner").annotate(Count("pk")))
    keys = []
    for pk, owner in waiting.values_list("pk", "owner")[:1000]:
        counts[owner] = counts.get(owner, 0) + 1
        if counts[owner] <= MOST_OF_ONE:
            keys.append(pk)
    return keys


def _have_all_be_due() -> None:
    now = wall_clock()
    rows = OutgoingMessage.objects.filter(holder="", due_at__gt=now)
    rows.exclude(send_at__gt=now).update(due_at=now)


def hold_restored() -> int:
    """Send nothing by itself that was due before a backup was restored; return how many that are.

    It may have been sent since the backup was made: its writer is told, and asked.
    """
    now, error = wall_clock(), "A backup of this site was restored, of before it was due."
    due = OutgoingMessage.objects.filter(state=State.QUEUED, due_at__lte=now)
    others_have_it = ~Q(sent_at=None, posted_at=None)
    partly = list(due.filter(others_have_it).only("pending", "refused"))
    for row in partly:  # what is left to be stored and filed is done
        refused = row.refused | dict.fromkeys(row.pending, error)
        due.filter(pk=row.pk).update(pending=[], refused=refused)
    count = due.exclude(others_have_it).update(
        state=State.REFUSED, due_at=None, holder="", unanswered_at=now, error=error
    )
    return count + sum(bool(row.pending) for row in partly)


def free_abandoned() -> int:
    """Free what was claimed by processes that have ended; return how many."""
    claimed = OutgoingMessage.objects.exclude(holder="").order_by()
    names = set(claimed.values_list("holder", flat=True).distinct())
    ended = [name for name in names if not holder.is_alive(name)]
    return OutgoingMessage.objects.filter(holder__in=ended).update(holder="") if ended else 0


def send(key: int) -> bool:
    """Do what is left to do for a message that is due; return False if it is none, or is held.

    Nor is it done while as many of its person are being sent as may be: the clock tries again.
    """
    with holder.claiming() as name:
        if not _claim(key, name):
            return False
        try:
            take_steps(OutgoingMessage.objects.select_related("owner", "news_source").get(pk=key))
        finally:
            OutgoingMessage.objects.filter(pk=key, holder=name).update(holder="")
    return True


def send_apart(key: int) -> None:
    """Do what is left to do for a message; if it raises an error, set it aside, and say so."""
    name = f"{key}/{PART}"
    try:
        if send(key):
            set_aside.clear(MESSAGE, [name])
    except Exception as error:
        aside = set_aside.record(MESSAGE, name, error)
        rows = OutgoingMessage.objects.filter(pk=key, due_at__isnull=False)
        rows.update(error=aside.reason, due_at=aside.try_again_at, failures=F("failures") + 1)


@transaction.atomic
def _claim(key: int, name: str) -> bool:
    due_now = OutgoingMessage.objects.filter(pk=key, due_at__lte=wall_clock())
    owners = User.objects.filter(pk__in=due_now.values("owner"), is_active=True)
    owner = owners.select_for_update(no_key=True).first()  # one claim of theirs at a time
    under_way = OutgoingMessage.objects.filter(owner=owner).exclude(holder="")
    if owner is None or under_way.count() >= MOST_OF_ONE:
        return False
    rows = OutgoingMessage.objects.filter(pk=key, due_at__lte=wall_clock(), holder="")
    return bool(rows.update(holder=name))


def prune(now: int) -> int:
    """Delete what was sent a month ago from the list; return how many."""
    old = OutgoingMessage.objects.filter(state=State.SENT, changed_at__lt=now - KEPT)
    return old.filter(due_at=None).delete()[0]
