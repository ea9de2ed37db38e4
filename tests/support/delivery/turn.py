"""One turn of all that releases and delivers, and what is stored after it."""

from __future__ import annotations

from typing import TypeVar

from django.db.models import Model

from filters.delivery import sending
from filters.delivery.mail import outgoing
from filters.delivery.models import Destination
from filters.delivery.ways import table as ways
from filters.runs.store.release import release
from tapestry.core.clock import wall_clock

Row = TypeVar("Row", bound=Model)


def turn() -> None:
    """Release what has come due, and deliver to all that are due."""
    release()
    sending.deliver(list(ways.WAYS), 10)


def turn_of_mail() -> None:
    """Release what has come due, and send all mail that waits, of whatever time."""
    release()
    Destination.objects.filter(due_at__isnull=False).update(due_at=wall_clock())
    with outgoing.kept_connection():
        sending.deliver(["digest", "forward"], 10)


def fresh(row: Row) -> Row:
    """Return a row as it is stored by now."""
    row.refresh_from_db()
    return row
