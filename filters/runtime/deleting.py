"""Deleting a row to which a worker may be adding others."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Model


@transaction.atomic
def delete_locked(doomed: Model) -> None:
    """Delete a row and those that refer to it, once whoever has it locked is done.

    Of a row that is added meanwhile a deletion sees nothing, and would be refused for it.
    """
    list(type(doomed)._default_manager.select_for_update().filter(pk=doomed.pk).values_list("pk"))
    doomed.delete()
