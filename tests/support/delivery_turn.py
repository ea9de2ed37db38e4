"""One turn of all that releases and delivers, and what is stored after it."""

from __future__ import annotations

from typing import TypeVar

from django.db.models import Model

from filters.delivery import sending
from filters.delivery.ways import table as ways
from filters.runs.store.release import release

Row = TypeVar("Row", bound=Model)


def turn() -> None:
    """Release what has come due, and deliver to all that are due."""
    release()
    sending.deliver(list(ways.WAYS), 10)


def fresh(row: Row) -> Row:
    """Return a row as it is stored by now."""
    row.refresh_from_db()
    return row
