"""Whether what somebody brought has reached every delivery, by its token.

    token ─ its row ─> the instant at which it was visible ─> filters.delivery.reached

A person is answered about their own filters and deliveries, the operator about everybody's.
"""

from __future__ import annotations

from typing import TypeVar

from django.db.models import Model, QuerySet

from filters.compose.models import OutgoingMessage
from filters.delivery.reached import Remaining, remaining
from filters.people.models import User
from filters.reading.annotations.outbox import MESSAGE, PART
from filters.reading.models import OutboxAnnotation
from filters.site.templatetags.mail import time_words
from filters.site.work import set_aside
from filters.site.work.crypto import arrival_tokens
from filters.sources.models import Source
from tapestry.core.errors import TapestryError

Row = TypeVar("Row", bound=Model)


class NoSuchTokenError(TapestryError):
    """The token is not of this site, of another person, or of something that is gone."""

    def __init__(self) -> None:
        super().__init__(
            "There is nothing that this token is of.",
            hint="It is another person’s, or it is of something that was deleted since.",
        )


class StoppedError(TapestryError):
    """What the token is of does not go on by itself."""


def remaining_of(text: str, person: User | None = None) -> Remaining:
    """Return what has not come everywhere of what a token is of, as a person is told.

    Without a person: of everybody, for the operator.  Raise NoSuchTokenError if the token is of
    nothing of theirs, StoppedError if somebody has to do something first.
    """
    try:
        token = arrival_tokens.read(text)
    except TapestryError:
        raise NoSuchTokenError from None
    instant, waits = token.instant, ""
    if token.kind == arrival_tokens.SAID:
        instant, waits = _said(_row(OutboxAnnotation.objects.all(), token.key, person))
    elif token.kind == arrival_tokens.SENT:
        instant, waits = _sent(_row(OutgoingMessage.objects.defer("raw"), token.key, person))
    elif token.kind == arrival_tokens.PULLED:
        instant, waits = _pulled(_row(Source.objects.all(), token.key, person), token.instant)
    return Remaining((waits,), ()) if waits else remaining(instant, person)


def _row(rows: QuerySet[Row], key: int, person: User | None) -> Row:
    rows = rows.filter(pk=key)
    row = (rows if person is None else rows.filter(owner=person)).first()
    if row is None:
        raise NoSuchTokenError
    return row


def _said(row: OutboxAnnotation) -> tuple[int, str]:
    if row.appended_at is not None:
        return row.appended_at, ""
    if why := set_aside.reason_of(MESSAGE, f"{row.pk}/{PART}"):
        return 0, why
    return 0, "What was said of a message is being stored."


def _sent(row: OutgoingMessage) -> tuple[int, str]:
    if row.stored_at is not None:
        return row.stored_at, ""
    if row.state == OutgoingMessage.State.DRAFT:
        raise StoppedError("The message is a draft again.", hint="Send it.")
    if row.state == OutgoingMessage.State.REFUSED:
        raise StoppedError("The message was not sent.", hint="Its page says why.")
    if row.is_scheduled:
        return 0, f"The message is sent at {time_words(row.send_at)}."
    return 0, "The message is being sent."


def _pulled(row: Source, asked_at: int) -> tuple[int, str]:
    if row.complete_until is not None and row.complete_until >= asked_at:
        return row.appended_until or 0, ""
    if not row.active:
        raise StoppedError("The source is paused.", hint="Resume it.")
    if row.failures:
        return 0, "The source could not be read the last time; it is tried again."
    return 0, "The source is being read."
