"""Mail of before that a filter found: one line of the inbox, or each message of it."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from filters.authoring.models import Filter
from filters.inbox import models
from tapestry.core.clock import wall_clock


def unfold(filter_: Filter) -> None:
    """Show each message that a filter found in mail of before in the inbox."""
    folded = Filter.objects.filter(pk=filter_.pk, unfolded_at=None)
    folded.update(unfolded_at=wall_clock(), updated=timezone.now())  # as the mark sees by it


@transaction.atomic
def fold(filter_: Filter) -> None:
    """Make one line again of what a filter found in mail of before."""
    models.fold(Filter.objects.select_for_update().filter(pk=filter_.pk))
