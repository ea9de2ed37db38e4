"""Deleting rows to which a worker may be adding others."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import QuerySet


@transaction.atomic
def delete_locked(doomed: QuerySet[Any]) -> int:
    """Delete rows and those that refer to them, once whoever has them locked is done.

    Return how many.  Of a row that is added meanwhile a deletion sees nothing, and would be refused
    for it.
    """
    locked = doomed.select_for_update(of=("self",)).order_by("pk")
    keys = list(locked.values_list("pk", flat=True))
    doomed.model._default_manager.filter(pk__in=keys).delete()
    return len(keys)
