"""The steps of a message that is sent, each stored as it ends, and not done again.

    post (NNTP) ─> mail (SMTP) ─> store ─> file (IMAP)

A process that dies within a step has it tried again, with the same bytes: news, storing and filing
know the Message-ID, so they are exactly once.  SMTP is at least once: a crash between the server's
answer and the commit sends the letter again under its own Message-ID.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from filters.authoring import reminders
from filters.compose.drafting.senders import sender_of
from filters.compose.models import OutgoingMessage
from filters.compose.sending.storing import file, store
from filters.compose.servers import post_news, send_mail
from filters.inbox.lists.cards import CopyKey
from filters.reading.tasks import append_soon
from tapestry.compose.transmission import Transmission
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.core.surroundings import is_unforeseen
from tapestry.deliver.mail.headers import ascii_address
from tapestry.deliver.timing.backoff import next_try
from tapestry.servers.account import ConnectionLostError

State = OutgoingMessage.State


def take_steps(row: OutgoingMessage) -> None:
    """Do what is left to do for a message that is claimed."""
    failed = _refusal(row) or _post(row) or _mail(row)
    accepted_at = row.sent_at or row.posted_at
    if accepted_at is None:
        if failed is None or not _put_off(row, failed):
            _set(row, state=State.REFUSED, due_at=None, error=failed.error if failed else "")
            event("refused", message=row.pk)
        return
    if row.stored_at is None:
        stored_at = store(row, accepted_at)
        _remind(row)
        _set(row, stored_at=stored_at)
    unfiled = _file(row, accepted_at)
    if failed is not None:
        if _put_off(row, failed):
            return
        _give_up(row, failed)
    _finish(row, unfiled)


def _refusal(row: OutgoingMessage) -> Transmission | None:
    """Return why a letter that has waited may not be sent: its address is not its writer's now."""
    if row.send_at is None or row.sent_at or row.posted_at:
        return None
    try:
        sender_of(row.owner, row.sender)
    except TapestryError as error:
        return Transmission(error=error.sentences, is_final=True)
    return None


def _post(row: OutgoingMessage) -> Transmission | None:
    """Post to newsgroups, unless that is done; return what is to be tried again."""
    if not row.newsgroups.strip() or row.posted_at is not None:
        return None
    raw = bytes(row.raw or b"")
    transmission = _handed_over(row, lambda: post_news(row.news_source, raw))
    if transmission.accepted:
        now = wall_clock()
        _set(row, posted_at=now, unanswered_at=None, failures=0, failing_since=None)
        return None
    return transmission


def _mail(row: OutgoingMessage) -> Transmission | None:
    """Send to those who have not got it yet; return what is to be tried again."""
    if not row.pending:
        return None
    raw = bytes(row.raw or b"")
    sender = ascii_address(row.sender)
    transmission = _handed_over(row, lambda: send_mail(row.owner, sender, row.pending, raw))
    if transmission.error:
        return transmission
    changes: dict[str, Any] = {
        "pending": list(transmission.deferred),
        "refused": {**row.refused, **transmission.refused},
    }
    if transmission.accepted:
        changes |= {"sent_at": row.sent_at or wall_clock(), "unanswered_at": None}
        changes |= {"failures": 0, "failing_since": None}
    _set(row, **changes)
    reasons = list(transmission.deferred.values())
    return Transmission(error=reasons[0]) if reasons else None


def _handed_over(row: OutgoingMessage, hand_over: Callable[[], Transmission]) -> Transmission:
    """Hand a letter to a server, and return what it says.

    That it may have been taken is stored before (a write-ahead log), for the process may die.
    """
    before = row.unanswered_at
    _set(row, unanswered_at=before or wall_clock())
    transmission = hand_over()
    if not transmission.accepted and not transmission.may_be_taken:
        _set(row, unanswered_at=before)
    return transmission


def _remind(row: OutgoingMessage) -> None:
    """Have the writer be reminded, as asked for; done again after a crash, it is the same one."""
    if row.remind_at is None:
        return
    message = CopyKey(row.message_id, f"user:{row.owner.get_username()}")
    try:
        reminders.remind(row.owner, message, row.remind_at, row.remind_every)
    except TapestryError as error:  # the letter was sent all the same
        event("not_reminded", message=row.pk, why=error.message)
    append_soon()


def _file(row: OutgoingMessage, accepted_at: int) -> TapestryError | None:
    """File the copy once anybody has it, unless that is done; return why it cannot be filed."""
    if row.filed_at is not None:
        return None
    try:
        _set(row, filed_in=file(row, accepted_at), filed_at=wall_clock())
    except TapestryError as error:
        if is_unforeseen(error):
            raise
        return error
    return None


def _put_off(row: OutgoingMessage, failed: Transmission) -> bool:
    """Have it tried again later; return False if that is of no use, or after three days."""
    now = wall_clock()
    since, failures = row.failing_since or now, row.failures + 1
    again = None if failed.is_final else next_try(now, since, failures)
    event("not_sent", message=row.pk, again=again is not None)
    if again is None:
        return False
    _set(row, due_at=again, failures=failures, failing_since=since, error=failed.error)
    return True


def _give_up(row: OutgoingMessage, failed: Transmission) -> None:
    """Count those who are left as refused: others have it, so they alone can be tried again.

    It stays due until it is finished; filing it has three days of its own.
    """
    refused = row.refused | dict.fromkeys(row.pending, failed.error)
    _set(row, state=State.SENT, pending=[], refused=refused, failures=0, failing_since=None)


def _finish(row: OutgoingMessage, unfiled: TapestryError | None) -> None:
    """End with what was sent, unless its copy is to be filed later."""
    _set(row, state=State.SENT, error="")
    if unfiled is not None:
        failed = Transmission(
            error=unfiled.message, is_final=not isinstance(unfiled, ConnectionLostError)
        )
        if _put_off(row, failed):
            return
        _set(row, error=unfiled.message, filed_at=wall_clock())
    if row.refused:
        _set(row, due_at=None)
    else:
        row.attachments.all().delete()
        _set(row, due_at=None, raw=None)
    event("sent", message=row.pk)


def _set(row: OutgoingMessage, **changes: Any) -> None:
    """Store that a step has ended."""
    for name, value in changes.items():
        setattr(row, name, value)
    OutgoingMessage.objects.filter(pk=row.pk).update(**changes)
